"""Nodes are rebuilt from the columns that the recorded workloads have."""

import pathlib

from bench import traces

OPENB = pathlib.Path(__file__).resolve().parents[1] / "data" / "traces" / "pods.csv"
NODES = "sn,cpu_milli,memory_mib,gpu,model\nopenb-node-0000,32000,262144,2,G1\n"
METACENTRUM = (
    "job,submit_time,wait_s,run_s,cpus,requested_time_s,requested_mem_bytes,user,queue,node_request,"
    "exclusive,hosts\n"
)


def test_small_files_give_a_table_with_one_row_for_each_fleet(tmp_path):
    rows = "".join(
        f"{job},1,0,10,{cpus},86400,{2**30},62,{queue},1,0,1\n"
        for job, (cpus, queue) in enumerate([(64, "q_2w"), (12, "backfill"), (40, "q_2h"), (2, "ops")] * 40)
    )
    (tmp_path / "metacentrum_wagap_2013.csv").write_text(METACENTRUM + rows)
    (tmp_path / "openb_nodes.csv").write_text(NODES)
    (tmp_path / "openb_pods.csv").write_text(OPENB.read_text())

    text = traces.report(tmp_path, seeds=1)

    assert [line.split("|")[1].strip() for line in text.splitlines()[4:]] == [
        "MetaCentrum, 1 nodes",
        "MetaCentrum, 3 nodes",
        "MetaCentrum, 20 nodes",
        "MetaCentrum, 200 nodes",
        "openb, 1 nodes",
    ]
