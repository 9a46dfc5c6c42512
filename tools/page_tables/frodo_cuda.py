# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of research/frodo_cuda/README.md, for tools/tables.py.

Source: h200_frodo_paper.json of bench/results, if it exists."""

from page_tables.sources import load, markdown, present

SOURCE = "h200_frodo_paper.json"


def digits(value):
    """Formats with about three digits."""
    after_the_point = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{after_the_point}f}"


def beside(gpu, cpu):
    """Formats both times, with the second over the first."""
    if gpu == cpu == 0:
        return ""
    ratio = f" (x{digits(cpu / gpu)})" if gpu > 0 and cpu > 0 else ""
    return f"{digits(gpu)} / {digits(cpu)}{ratio}"


def alone_us(document, name):
    """Returns the microseconds of a matrix A by itself, one of a batch, for a set's n and function."""
    for row in document["generation"]:
        if name == f"frodokem{row['n']}{row['function']}":
            return row["many_ms"] * 1e3
    raise KeyError(name)


def table_profile(_):
    """Makes the table of six steps in microseconds per item."""
    if not present(SOURCE):
        return ""
    document = load(SOURCE)
    rows = []
    for r in document["profile"]:
        gpu, cpu = r["gpu_us"], r["cpu_us"]
        fused, hashing = gpu["a"] + gpu["product"], gpu["shake"] + gpu["sampling"]
        rows.append([
            r["set"], r["op"], beside(gpu["randomness"], cpu["randomness"]),
            f"{digits(hashing)} / {digits(cpu['shake'])} + {digits(cpu['sampling'])}"
            f" (x{digits((cpu['shake'] + cpu['sampling']) / hashing)})",
            f"{digits(fused)} / {digits(cpu['a'])} + {digits(cpu['product'])}"
            f" (x{digits((cpu['a'] + cpu['product']) / fused)})",
            digits(alone_us(document, r["set"])), beside(gpu["rest"], cpu["rest"]), beside(r["us"], sum(cpu.values()))])
    return markdown(["set", "operation", "OS randomness", "SHAKE + error sampling", "A + product", "A alone, GPU",
                     "the rest", "all"], rows)


def table_generation(_):
    """Makes the table of the time of A against n."""
    if not present(SOURCE):
        return ""
    rows = []
    for r in load(SOURCE)["generation"]:
        one, many, cpu = (r[key] for key in ("one_ms", "many_ms", "cpu_ms"))
        rows.append(["AES-128" if r["function"] == "aes" else "SHAKE128", str(r["n"]), digits(one), str(r["batch"]),
                     f"{many:.5f}", digits(cpu), digits(16e-6 * r["n"] ** 2 / many), f"x{digits(cpu / one)}",
                     f"x{digits(cpu / many)}"])
    return markdown(["function", "n", "one matrix, ms", "batch", "one of the batch, ms", "one core, ms",
                     "batch, Gbit/s", "one over core", "batch over core"], rows)


def table_products(_):
    """Makes the table of the time of the product against m and n."""
    if not present(SOURCE):
        return ""
    found = {(r["n"], r["m"]): r for r in load(SOURCE)["products"]}
    sizes, widths = sorted({n for n, _ in found}), sorted({m for _, m in found})

    def cell(n, m):
        r = found[n, m]
        return f"{digits(r['ms'])} / {digits(r['cpu_ms'])} (x{digits(r['cpu_ms'] / r['ms'])})"
    return markdown(["m", *(f"n = {n}" for n in sizes)], [[str(m)] + [cell(n, m) for n in sizes] for m in widths])


TABLES = {"frodo-profile": table_profile, "frodo-generation": table_generation, "frodo-products": table_products}
