using System.Text.Json.Nodes;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Host.Reloading;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Operating;

/// <summary>Tuned settings last: over restarts and revisions, until they are reset.</summary>
[CancelAfter(60_000)]
public sealed class LastingTuningTests
{
    private DirectoryInfo _folder = null!;
    private JsonObject _configuration = null!;

    private string Path => System.IO.Path.Combine(_folder.FullName, "esb.json");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-tuned-");
        _configuration = RunningBus.Configuration(_folder.FullName);
        await WriteAsync();
    }

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Tuned_settings_survive_a_restart_and_end_with_a_reset(CancellationToken cancellationToken)
    {
        await using (var bus = await RunningBus.StartAsync(Path, cancellationToken))
        {
            var tuning = new EndpointTuning
            {
                PoolSize = 8,
                Paused = true,
                Rate = 50,
                Audit = AuditBodies.None,
                Retry = new RetryTuning { Immediate = 1, Delays = ["30s"] },
                CircuitBreaker = new CircuitBreakerTuning { Failures = 3, Probe = "10s" },
            };
            await bus.Tuning.TuneAsync("ledger", tuning, RunningBus.Operator, cancellationToken);
            Assert.That(Describe(bus), Is.EqualTo(Tuned), "at once");
        }

        await using (var bus = await RunningBus.StartAsync(Path, cancellationToken))
        {
            Assert.That(Describe(bus), Is.EqualTo(Tuned), "after a restart");
            Assert.That(bus.StatusOf("ledger").State, Is.EqualTo(EndpointState.PausedByOperator));
            await bus.Tuning.ResetAsync("ledger", "retry", RunningBus.Operator, cancellationToken);
            Assert.That(bus.StatusOf("ledger").Current!.Retry!.Delays, Is.EqualTo(new[] { "10s", "1m", "5m" }));
            Assert.That(bus.StatusOf("ledger").Current!.PoolSize, Is.EqualTo(8), "the others stay");
            await bus.Tuning.ResetAsync("ledger", setting: null, RunningBus.Operator, cancellationToken);
            Assert.That(Describe(bus), Is.EqualTo(Describe(bus.StatusOf("ledger").Configured!)));
        }

        await using (var bus = await RunningBus.StartAsync(Path, cancellationToken))
            Assert.That(bus.Tuning.Tuned, Is.Empty);
    }

    [Test]
    public async Task Every_change_is_a_fact_with_who_from_and_to(CancellationToken cancellationToken)
    {
        await using var bus = await RunningBus.StartAsync(Path, cancellationToken);
        await bus.Tuning.TuneAsync("ledger", new EndpointTuning { PoolSize = 8 }, RunningBus.Operator, cancellationToken);
        await bus.Tuning.ResetAsync("ledger", "poolSize", RunningBus.Operator with { By = "night shift" }, cancellationToken);

        var facts = await FactsAsync(bus, cancellationToken);
        Assert.That(
            facts.Select(fact => string.Join(' ', new[] { "operator", "setting", "from", "to" }.Select(name => fact.Fields[name]))),
            Is.EquivalentTo(new[] { "ops poolSize 1 8", "night shift poolSize 8 1" })
        );
    }

    [Test]
    public async Task Revision_that_changes_a_tuned_setting_does_not_undo_it_and_says_so(CancellationToken cancellationToken)
    {
        await using var bus = await RunningBus.StartAsync(Path, cancellationToken);
        await bus.Tuning.TuneAsync("ledger", new EndpointTuning { PoolSize = 8 }, RunningBus.Operator, cancellationToken);
        _configuration["endpoints"]!["ledger"]!["poolSize"] = 4;
        await WriteAsync();

        var result = await bus.ReloadAsync(cancellationToken);

        Assert.That(result.Changes, Has.One.Contains("keeps poolSize 8").And.Contains("now says 4"));
        Assert.That(bus.Notices, Has.One.StartsWith("ESB-TUNING-CHANGED: endpoint 'ledger' keeps poolSize 8"));
        Assert.That((bus.StatusOf("ledger").Current!.PoolSize, bus.StatusOf("ledger").Configured!.PoolSize), Is.EqualTo((8, 4)));
        await bus.Tuning.ResetAsync("ledger", "poolSize", RunningBus.Operator, cancellationToken);
        Assert.That(
            (
                bus.StatusOf("ledger").Current!.PoolSize,
                bus.Notices.Count(notice => notice.StartsWith("ESB-TUNING", StringComparison.Ordinal))
            ),
            Is.EqualTo((4, 0))
        );
    }

    [Test]
    public async Task Tuning_that_contradicts_the_new_version_is_set_aside_with_a_notice(CancellationToken cancellationToken)
    {
        await using (var bus = await RunningBus.StartAsync(Path, cancellationToken))
            await bus.Tuning.TuneAsync(
                "ledger",
                new EndpointTuning { PoolSize = 8, Paused = true },
                RunningBus.Operator,
                cancellationToken
            );
        _configuration["endpoints"]!["ledger"]!["delivery"] = "ordered";
        await WriteAsync();

        await using var restarted = await RunningBus.StartAsync(Path, cancellationToken);

        var status = restarted.StatusOf("ledger");
        Assert.That(
            (status.Current!.PoolSize, status.Current.Paused),
            Is.EqualTo((1, true)),
            "a pause holds whatever the configuration says"
        );
        Assert.That(restarted.Notices, Has.One.StartsWith("ESB-TUNING-ASIDE: endpoint 'ledger' is not tuned as wanted: poolSize = 8"));
    }

    [Test]
    public async Task Tuning_that_contradicts_a_version_is_set_aside_while_it_runs_and_applies_again_after_it(
        CancellationToken cancellationToken
    )
    {
        var ledger = _configuration["endpoints"]!["ledger"]!.AsObject();
        ledger["poolSize"] = 4;
        await WriteAsync();
        await using var bus = await RunningBus.StartAsync(Path, cancellationToken);
        var tuning = new EndpointTuning { PoolSize = 8, Paused = true };
        await bus.Tuning.TuneAsync("ledger", tuning, RunningBus.Operator, cancellationToken);
        await ReloadAsync(null);
        ledger["delivery"] = "ordered"; // a queue in memory does not become another one while the bus runs, so it was removed
        ledger["poolSize"] = 1;

        var forbidden = await ReloadAsync(ledger);
        var (aside, notices) = (bus.StatusOf("ledger").Current!, bus.Notices.ToList());
        await ReloadAsync(null);
        ledger.Remove("delivery");
        ledger["poolSize"] = 4;
        await ReloadAsync(ledger);

        Assert.That(forbidden.Changes, Has.One.Contains("'ledger' is not tuned as wanted: poolSize = 8").And.Contains("ordered"));
        Assert.That(forbidden.Changes, Has.None.Contains("keeps poolSize"));
        Assert.That((aside.PoolSize, aside.Paused), Is.EqualTo((1, true)), "a pause holds whatever the configuration says");
        Assert.That(
            notices.Where(notice => notice.StartsWith("ESB-TUNING", StringComparison.Ordinal)),
            Is.EqualTo(new[] { notices.Single(notice => notice.StartsWith("ESB-TUNING-ASIDE", StringComparison.Ordinal)) })
        );
        Assert.That((bus.StatusOf("ledger").Current!.PoolSize, bus.StatusOf("ledger").Current!.Paused), Is.EqualTo((8, true)));
        Assert.That(bus.Notices, Has.None.StartsWith("ESB-TUNING"));

        async Task<ReloadResult> ReloadAsync(JsonNode? endpoint)
        {
            _configuration["endpoints"]!.AsObject().Remove("ledger");
            if (endpoint is not null)
                _configuration["endpoints"]!["ledger"] = endpoint;
            await WriteAsync();
            return await bus.ReloadAsync(cancellationToken);
        }
    }

    [Test]
    public async Task Setting_that_cannot_be_tuned_is_named(CancellationToken cancellationToken)
    {
        await using var bus = await RunningBus.StartAsync(Path, cancellationToken);

        Assert.That(
            async () => await bus.Tuning.ResetAsync("ledger", "folder", RunningBus.Operator, cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-ENDPOINT-TUNING").And.Message.Contains("poolSize")
        );
    }

    private const string Tuned = "8 True 50 None 1 30s 3 10s";

    private static string Describe(RunningBus bus) => Describe(bus.StatusOf("ledger").Current!);

    private static string Describe(EndpointTuning tuning) =>
        $"{tuning.PoolSize} {tuning.Paused} {tuning.Rate} {tuning.Audit} {tuning.Retry!.Immediate} "
        + $"{string.Join(',', tuning.Retry.Delays!)} {tuning.CircuitBreaker!.Failures} {tuning.CircuitBreaker.Probe}";

    private static async Task<List<AuditFact>> FactsAsync(RunningBus bus, CancellationToken cancellationToken)
    {
        var facts = new List<AuditFact>();
        var store = bus.Services.GetRequiredService<IAuditStore>();
        for (var attempt = 0; attempt < 100 && facts.Count < 2; attempt++)
        {
            facts.Clear();
            await foreach (var fact in store.FindAsync(new AuditQuery { Endpoint = "ledger" }, cancellationToken))
            {
                if (fact.Name == "tuning")
                    facts.Add(fact);
            }

            await Task.Delay(100, cancellationToken);
        }

        return facts;
    }

    private Task WriteAsync() => File.WriteAllTextAsync(Path, _configuration.ToJsonString());
}
