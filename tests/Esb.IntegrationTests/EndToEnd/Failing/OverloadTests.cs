using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Ten times the calls that a host works on at once: what is refused is refused at once, what is accepted arrives, and then all is
/// as before.</summary>
[Category("Failures")]
[OwnProcess]
public sealed class OverloadTests
{
    private const int Clients = 200;
    private const int CallsOfEach = 20;

    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-overload-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, CancelAfter(120_000), Property("Case", "T-OVL-1")]
    public async Task Host_with_too_much_to_do_turns_callers_away_and_finishes_what_it_accepted(CancellationToken cancellationToken)
    {
        await using var backend = await EchoBackend.StartAsync();
        backend.Delay = TimeSpan.FromMilliseconds(50);
        await WriteConfigurationAsync(backend.Url, cancellationToken);
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken);
        var (accepted, waits) = (new ConcurrentBag<string>(), new ConcurrentBag<TimeSpan>());

        await Task.WhenAll(
            Enumerable
                .Range(0, Clients)
                .Select(async _ =>
                {
                    for (var call = 0; call < CallsOfEach; call++)
                    {
                        var started = Stopwatch.GetTimestamp();
                        using var answer = await host.PostAsync("/orders", "{}", "application/json", cancellationToken);
                        if (answer.StatusCode == HttpStatusCode.Accepted)
                        {
                            accepted.Add(answer.Headers.GetValues("Esb-Message-Id").Single());
                            continue;
                        }

                        var problem = await answer.Content.ReadAsStringAsync(cancellationToken);
                        waits.Add(Stopwatch.GetElapsedTime(started));
                        Assert.That(
                            (answer.StatusCode, answer.Headers.RetryAfter?.Delta),
                            Is.EqualTo((HttpStatusCode.ServiceUnavailable, TimeSpan.FromSeconds(1)))
                        );
                        Assert.That(problem, Does.Contain("\"ESB-OVERLOAD\"").And.Contain("traceId"));
                    }
                })
        );
        using var later = await host.PostAsync("/orders", "{}", "application/json", cancellationToken);
        accepted.Add(later.Headers.GetValues("Esb-Message-Id").Single());

        Assert.Multiple(() =>
        {
            Assert.That(accepted, Has.Count.GreaterThan(20), "work went on");
            Assert.That(waits, Has.Count.GreaterThan(Clients), "most were too many");
            Assert.That(later.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
            Assert.That(backend.MostAtOnce, Is.LessThanOrEqualTo(20));
        });
        await TestContext.Out.WriteLineAsync(
            $"{accepted.Count} accepted, {waits.Count} refused, half of them within "
                + $"{waits.Order().ElementAt(waits.Count / 2).TotalMilliseconds:0.0} ms"
        );
        foreach (var id in accepted)
            await host.WaitForFileAsync(Path.Combine(_folder.FullName, "ledger", $"{id}.txt"), cancellationToken);
        Assert.That(Directory.GetFiles(Path.Combine(_folder.FullName, "ledger")), Has.Length.EqualTo(accepted.Count));
        Assert.That(
            host.Output.Split('\n').Count(line => line.Contains("callers get 503 with Retry-After", StringComparison.Ordinal)),
            Is.InRange(1, 10)
        );
    }

    private Task WriteConfigurationAsync(Uri backend, CancellationToken cancellationToken) =>
        File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "limits": { "inFlightHigh": 20, "inFlightLow": 10 },
              "topics": { "orders": {} },
              "processes": { "take": [ { "call": "backend" }, { "publish": "orders.new" } ] },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "process": "take" },
                "backend": { "type": "http-outbound", "url": "{{backend}}", "poolSize": 100 },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger", "fileName": "{message.id}.txt", "poolSize": 4, "processingThreads": 4 }
              }
            }
            """,
            cancellationToken
        );
}
