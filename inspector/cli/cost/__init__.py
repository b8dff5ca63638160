"""`toolsight cost`: what each way to deliver tools costs."""
