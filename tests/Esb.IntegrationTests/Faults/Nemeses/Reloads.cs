using System.Net;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Farm;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>An operator changes one thing after the other in the files and has them reloaded, by one host or the other.</summary>
/// <param name="bench">With an endpoint <c>loose</c>.</param>
/// <param name="changes">Makes the change of a round, one thing at a time.</param>
/// <param name="wrong">Of so many rounds the files are wrong once; 0 for never. A host that starts meanwhile ends.</param>
internal sealed class Reloads(FaultBench bench, Action<JsonObject, int> changes, int wrong) : IDisposable
{
    private readonly ConfigurationCalls _calls = new();

    /// <summary>Reloads that were made on both hosts.</summary>
    public int Done { get; private set; }

    /// <summary>Reloads that were refused because the files were wrong.</summary>
    public int Refused { get; private set; }

    /// <summary>Reloads that were not possible, because a host had just died or come.</summary>
    public int Elsewhere { get; private set; }

    public async Task RunAsync(int times, CancellationToken cancellationToken)
    {
        for (var i = 0; i < times; i++)
        {
            var good = JsonNode.Parse(await File.ReadAllTextAsync(bench.Configuration, cancellationToken))!.AsObject();
            var isWrong = wrong > 0 && i % wrong == wrong - 1;
            var next = good.DeepClone().AsObject();
            if (isWrong)
                next["endpoints"]!["loose"]!["type"] = "sql-outbund";
            else
                changes(next, i);
            await bench.ConfigureAsync(next);
            await ReloadAsync(bench.Farm.Hosts[i % bench.Farm.Hosts.Count], isWrong, cancellationToken);
            if (isWrong)
                await bench.ConfigureAsync(good);
            await Task.Delay(200, cancellationToken);
        }
    }

    public void Dispose() => _calls.Dispose();

    // A wrong configuration is refused by whichever host reads it; a right one needs both.
    private async Task ReloadAsync(FarmHost host, bool isWrong, CancellationToken cancellationToken)
    {
        while (true)
        {
            var (status, text) = await _calls.PostAsync(host, "/api/configuration/reload", body: null, cancellationToken);
            if (isWrong && status == HttpStatusCode.UnprocessableEntity && text.Contains("endpoints.loose.type", StringComparison.Ordinal))
                Refused++;
            else if (!isWrong && status == HttpStatusCode.OK)
                Done++;
            else if (!isWrong && ConfigurationCalls.Differs(text))
                Elsewhere++;
            else if (ConfigurationCalls.IsForLater(status) || ConfigurationCalls.Differs(text))
            {
                await Task.Delay(500, cancellationToken);
                continue;
            }
            else
            {
                Assert.Fail($"{host.Name} answered {(int)status}: {text}");
            }

            return;
        }
    }
}
