using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Replay;
using Esb.Storage;
using Esb.Storage.Files;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Delivery.Replay;

/// <summary>A store of files, a desk and a runner; the queues are fake.</summary>
public abstract class ReplayFixture
{
    private protected static readonly OperatorDecision Decision = new("ada", "the shop is back");

    private static readonly DateTimeOffset Start = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private FileStoreConfig _config = null!;
    private FileStore _store = null!;
    private ReplaySignal _signal = null!;
    private ReplayRunner? _runner;

    private protected EndpointQueues Queues { get; private set; } = null!;

    private protected AuditLog Audit { get; private set; } = null!;

    private protected ReplayDesk Desk { get; private set; } = null!;

    private protected IDeadLetterStore Letters => _store.DeadLetters;

    private protected IReplayJobStore Jobs => _store.ReplayJobs;

    [SetUp]
    public async Task Open()
    {
        _config = new FileStoreConfig { Folder = Directory.CreateTempSubdirectory("esb-").FullName };
        Queues = new EndpointQueues();
        Audit = new AuditLog();
        await OpenStoreAsync();
    }

    [TearDown]
    public async Task Close()
    {
        await StopRunnerAsync();
        await _store.DisposeAsync();
        Directory.Delete(_config.Folder, recursive: true);
    }

    private protected async Task StartRunnerAsync()
    {
        var services = new ReplayServices(Jobs, Letters, Queues, SomeTargets(), Audit, TimeProvider.System, NullLoggerFactory.Instance);
        _runner = new ReplayRunner(Jobs, services, _signal, NullLogger<ReplayRunner>.Instance);
        await _runner.StartAsync(CancellationToken.None);
    }

    private protected async Task StopRunnerAsync()
    {
        if (_runner is null)
            return;
        await _runner.StopAsync(CancellationToken.None);
        _runner.Dispose();
        _runner = null;
    }

    /// <summary>As another process would after this one: what nobody told the store is not known.</summary>
    private protected async Task ReopenAsync()
    {
        await StopRunnerAsync();
        await _store.DisposeAsync();
        await OpenStoreAsync();
    }

    private protected async Task<IReadOnlyList<DeadLetter>> KeepAsync(
        int count,
        CancellationToken cancellationToken,
        string endpoint = "shop",
        Func<int, string?>? key = null
    )
    {
        var letters = Enumerable.Range(0, count).Select(number => Letter(number, endpoint, key?.Invoke(number))).ToList();
        foreach (var letter in letters)
            await Letters.AddAsync(letter, cancellationToken);
        return letters;
    }

    private protected async Task<DeadLetter> KeepAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        var letter = Letter(0, "shop", null) with { Message = message };
        await Letters.AddAsync(letter, cancellationToken);
        return letter;
    }

    private protected static ReplayRequest All(string endpoint = "shop") => new() { Letters = new() { Endpoint = endpoint } };

    private protected Task<ReplayJob> ReplayAsync(ReplayRequest request, CancellationToken cancellationToken) =>
        Desk.ReplayAsync(request, null, Decision, cancellationToken);

    private protected async Task<ReplayJob> WaitForAsync(Guid job, Func<ReplayJob, bool> condition, CancellationToken cancellationToken)
    {
        ReplayJob? now = null;
        for (var waited = 0; (now = await Jobs.GetAsync(job, cancellationToken)) is not { } found || !condition(found); waited++)
        {
            if (waited > 500)
                Assert.Fail($"Waited in vain; the job is {now}.");
            await Task.Delay(20, cancellationToken);
        }

        return now;
    }

    private protected async Task<IReadOnlyList<DeadLetterState>> StatesAsync(CancellationToken cancellationToken) =>
        await Letters
            .FindAsync(new() { Limit = 1000 }, cancellationToken)
            .Select(letter => letter.State)
            .Reverse()
            .ToListAsync(cancellationToken);

    private static DeadLetter Letter(int number, string endpoint, string? key) =>
        new(
            Some.Message($"order {number}", "orders.accepted", key, "text/plain") with
            {
                Attempt = 5,
            },
            endpoint,
            "ESB-HTTP-STATUS",
            $"The shop answered {number % 2}.",
            null,
            5,
            Start.AddSeconds(number),
            Start.AddSeconds(number)
        );

    internal static ReplayTargets SomeTargets() =>
        new(
            new EndpointModels(
                [],
                [
                    .. new Target[]
                    {
                        new Target { Name = "shop", Subscribe = [SubjectPattern.Parse("orders.#")!] },
                        new Target
                        {
                            Name = "ledger",
                            Subscribe = [SubjectPattern.Parse("orders.#")!],
                            Delivery = DeliveryMode.OrderedByKey,
                        },
                        new Target { Name = "called", Subscribe = [] },
                    }.Select(target => new OutboundModel(target, "test-outbound", Filter: null, Create: null)),
                ]
            )
        );

    private async Task OpenStoreAsync()
    {
        _store = new FileStore(_config, TimeProvider.System, NullLogger<FileStore>.Instance);
        await _store.StartAsync(CancellationToken.None);
        _signal = new ReplaySignal();
        Desk = new ReplayDesk(SomeTargets(), Letters, Jobs, _signal, Audit, TimeProvider.System, NullLogger<ReplayDesk>.Instance);
    }

    private sealed record Target : OutboundEndpointConfig;
}
