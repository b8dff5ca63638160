"""The lab: scenarios run on a workbench, with what came of them and what they cost."""
