"""Rows a second of Polars' own functions where Orca has one of the same kind, on one thread.

    python bench/functions.py

Beside it stands `cargo test --release -p orca-lang --test speed -- --ignored --nocapture`, over the same numbers.
"""

import os
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import numpy as np
import polars as pl

ROWS, KEYS, ROUNDS, WINDOW = 2_000_000, 5_000, 3, 60

A, B = pl.col("a"), pl.col("b")
PEERS = {
    "abs": A.abs(),
    "cumsum": A.cum_sum(),
    "cummax": A.cum_max(),
    "cumcount": A.cum_count(),
    "cumprod": A.cum_prod(),
    "prev": A.shift(1),
    "deltas": A.diff(1),
    "percentChange": A.pct_change(1),
    "ffill": A.forward_fill(),
    "msum": A.rolling_sum(WINDOW),
    "mavg": A.rolling_mean(WINDOW),
    "mmin": A.rolling_min(WINDOW),
    "mmax": A.rolling_max(WINDOW),
    "mstd": A.rolling_std(WINDOW),
    "mvar": A.rolling_var(WINDOW),
    "mmed": A.rolling_median(WINDOW),
    "mpercentile": A.rolling_quantile(0.5, interpolation="linear", window_size=WINDOW),
    "mrank": A.rolling_rank(WINDOW),
    "mskew": A.rolling_skew(WINDOW),
    "mkurtosis": A.rolling_kurtosis(WINDOW),
    "mcorr": pl.rolling_corr(A, B, window_size=WINDOW),
    "mcovar": pl.rolling_cov(A, B, window_size=WINDOW),
    "tmsum": A.rolling_sum_by("t", "60i"),
    "tmavg": A.rolling_mean_by("t", "60i"),
    "tmmax": A.rolling_max_by("t", "60i"),
    "tmstd": A.rolling_std_by("t", "60i"),
    "tmmed": A.rolling_median_by("t", "60i"),
    "ewmMean": A.ewm_mean(com=5),
    "ewmVar": A.ewm_var(com=5),
}


def best(work):
    """Millions of rows a second, the best of some rounds."""
    seconds = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        seconds.append(time.process_time() - begun)
    return ROWS / min(seconds) / 1e6


def main():
    rng = np.random.default_rng(7)
    values = lambda: rng.integers(0, 20_000, ROWS) / 100.0 - 50.0
    keys = rng.integers(0, KEYS, ROWS)
    rows = pl.DataFrame({"t": np.arange(ROWS), "a": values(), "b": values(), "key": keys})
    print(f"| function | one vector | {KEYS} keys |\n|---|---|---|")
    for name, expression in PEERS.items():
        vector = best(lambda: rows.select(expression))
        # Times of a key lie as far apart as there are keys.
        by_key = expression
        if name.startswith("tm"):
            by_key = getattr(A, f"rolling_{ {'tmsum': 'sum', 'tmavg': 'mean', 'tmmax': 'max', 'tmstd': 'std', 'tmmed': 'median'}[name] }_by")(
                "t", f"{WINDOW * KEYS}i"
            )
        keyed = best(lambda: rows.select(by_key.over("key")))
        print(f"| {name} | {vector:.1f} | {keyed:.1f} |", flush=True)


if __name__ == "__main__":
    main()
