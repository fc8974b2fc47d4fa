using System.Text.Json.Nodes;
using Dapper;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Failures with 1 MiB of text, from 5,000 calls deep: in a database, and in an endpoint itself.</summary>
[NonParallelizable, Property("Case", "T-POI-4")]
public sealed class HugeFailureTests
{
    private const int LongestReason = 8 * 1024;

    [Test, Category("Faults"), CancelAfter(180_000)]
    public async Task Failure_with_a_huge_text_from_deep_down_becomes_a_dead_letter(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "T-POI-4",
                Hosts = 1,
                Program = Repository.KnownBadHost,
                Sinks = async (database, folder) =>
                {
                    var effects = await SqlSink.CreateAsync("effects", database, SinkPromises.Once, BenchConfiguration.Parallel());
                    await RefuseEachTenthKeyAsync(database, cancellationToken);
                    return [effects, await HttpSink.StartAsync("web", folder, SinkPromises.None, TriedOnce())];
                },
            }
        );
        bench.Farm.Hosts[0].Set("ESB_KNOWNBAD_THROWS", "web");
        await bench.Farm.StartAsync(cancellationToken);
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 300,
                Rate = 300,
                LargestBody = 2_048,
            }
        );

        await load.RunAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        var refused = bench.Ledger.Messages.Count(message => message.Outcome == SendOutcome.Confirmed && message.Key.EndsWith('0'));
        var (ofDatabase, ofEndpoint) = (
            await ReadLongestReasonAsync(bench, "effects", cancellationToken),
            await ReadLongestReasonAsync(bench, "web", cancellationToken)
        );
        bench.Conclude(
            verdicts,
            $"{load.Acknowledged:N0} of 50 keys, each tenth key fails with 1 MiB of text from 5,000 calls deep",
            $"{refused} failed; longest reason kept: {ofDatabase} characters of ours for that of the database, {ofEndpoint:N0} of "
                + $"the exception's in the endpoint"
        );
        Assert.Multiple(() =>
        {
            Assert.That(verdicts.Select(verdict => verdict.Kept), Is.All.Positive.And.All.EqualTo(refused));
            Assert.That(
                ofDatabase,
                Is.LessThan(LongestReason),
                "what a database says may repeat values of the message, and goes to logs only"
            );
            Assert.That(ofEndpoint, Is.EqualTo(LongestReason), "cut");
        });
    }

    // Ten failures of this kind in a row, with no answer in between, would be taken for an outside that is away.
    private static JsonObject TriedOnce()
    {
        var settings = BenchConfiguration.Parallel();
        settings["retry"] = new JsonObject { ["immediate"] = 0, ["delays"] = new JsonArray() };
        return settings;
    }

    private static async Task RefuseEachTenthKeyAsync(NpgsqlDataSource database, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        await connection.ExecuteAsync(
            """
            create function fall(depth int) returns void language plpgsql as $$
            begin
              if depth = 0 then raise exception using errcode = 'P0001', message = repeat('x', 1024 * 1024); end if;
              perform fall(depth - 1);
            end $$;
            create function refuse() returns trigger language plpgsql as $$
            begin
              if new.id like '%0-%' then set local max_stack_depth = '7MB'; perform fall(5000); end if;
              return new;
            end $$;
            create trigger refuse before insert on effects for each row execute function refuse();
            """
        );
    }

    private static async Task<int> ReadLongestReasonAsync(FaultBench bench, string endpoint, CancellationToken cancellationToken) =>
        (
            await bench.Database.QueryAsync<int>(
                "select max(length(reason)) from esb.dead_letter where endpoint = @endpoint",
                new { endpoint },
                cancellationToken
            )
        )[0];
}
