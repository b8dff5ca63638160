"""The threads of the linear algebra library behind numpy."""


def keep_to_one_thread() -> None:
    """Leave the processors to whoever computes next.

    After a product OpenBLAS' threads turn in a loop for some 20 ms, in case there is another one, and take a
    processor from the model that embeds the next query.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")
