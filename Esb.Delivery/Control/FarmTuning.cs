using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Control;

/// <summary>Tunes the endpoints of all hosts, keeps what is tuned, and applies what other hosts tuned.</summary>
internal sealed partial class FarmTuning(
    IFarm farm,
    IEndpointControl control,
    TuningBook book,
    TuningFacts facts,
    TimeProvider time,
    ILogger<FarmTuning> logger
) : IFarmTuning, IHealthNotices, IBusPart, IDisposable
{
    private readonly SemaphoreSlim _turn = new(1, 1);
    private IReadOnlyList<IDisposable> _hearing = [];

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(OutboundEndpoints)];

    public IReadOnlyList<TunedSetting> Tuned => book.All;

    public IEnumerable<string> Notices
    {
        get
        {
            var tuned = book.All;
            foreach (var endpoint in book.Unkept)
                yield return $"ESB-TUNING-UNKEPT: the store does not have what was tuned of endpoint '{endpoint}' yet; the next "
                    + $"attempt follows within {TuningKeeper.Interval.TotalSeconds:0} s";
            foreach (var line in TuningChanges.SetAside(tuned, control.SetAsideOf))
                yield return $"ESB-TUNING-ASIDE: {line}";
            foreach (var line in TuningChanges.Kept(tuned, control.ConfiguredOf, control.SetAsideOf))
                yield return $"ESB-TUNING-CHANGED: {line}";
        }
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _hearing = [farm.Subscribe<TuneEndpoint>(ObeyAsync), farm.Subscribe<ResetEndpoint>(ObeyAsync)];
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        foreach (var hearing in _hearing)
            hearing.Dispose();
        return Task.CompletedTask;
    }

    public void Dispose() => _turn.Dispose();

    public async Task<IReadOnlyList<FarmHost>> TuneAsync(
        string endpoint,
        EndpointTuning tuning,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        await InTurnAsync(() => TuneHereAsync(endpoint, tuning, decision, isOurs: true, cancellationToken), cancellationToken);
        await farm.BroadcastAsync(new TuneEndpoint(endpoint, tuning, decision.By), cancellationToken);
        return farm.Hosts;
    }

    public async Task<IReadOnlyList<FarmHost>> ResetAsync(
        string endpoint,
        string? setting,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        if (setting is not null && !TuningValues.Names.Contains(setting))
            throw new EsbException(
                "ESB-ENDPOINT-TUNING",
                $"'{setting}' cannot be tuned; expected {string.Join(", ", TuningValues.Names)}.",
                FaultKind.Invalid
            );
        await InTurnAsync(() => ResetHereAsync(endpoint, setting, decision, isOurs: true, cancellationToken), cancellationToken);
        await farm.BroadcastAsync(new ResetEndpoint(endpoint, setting), cancellationToken);
        return farm.Hosts;
    }

    /// <summary>Applies settings that were read from the store, unless an operator changed some since.</summary>
    /// <param name="settings">What was read.</param>
    /// <param name="asOf"><see cref="TuningBook.Changes"/> before it was read.</param>
    /// <param name="cancellationToken">Ends the wait for other changes.</param>
    public Task LoadAsync(IReadOnlyList<TunedSetting> settings, long asOf, CancellationToken cancellationToken) =>
        InTurnAsync(
            async () =>
            {
                foreach (var endpoint in book.Load(settings, asOf))
                    await control.SetAsync(endpoint, book.Of(endpoint), cancellationToken);
            },
            cancellationToken
        );

    /// <summary>Applies all settings that the book has.</summary>
    public Task ApplyAsync(CancellationToken cancellationToken) =>
        InTurnAsync(
            async () =>
            {
                foreach (var endpoint in book.All.Select(one => one.Endpoint).Distinct())
                    await control.SetAsync(endpoint, book.Of(endpoint), cancellationToken);
            },
            cancellationToken
        );

    private async Task InTurnAsync(Func<Task> work, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            await work();
        }
        finally
        {
            _turn.Release();
        }
    }

    private async Task TuneHereAsync(
        string endpoint,
        EndpointTuning tuning,
        OperatorDecision decision,
        bool isOurs,
        CancellationToken cancellationToken
    )
    {
        var configured = TuningValues.Of(control.ConfiguredOf(endpoint) ?? new EndpointTuning());
        var before = book.Of(endpoint);
        await control.TuneAsync(endpoint, tuning, cancellationToken);
        var changes = TuningValues.Of(tuning);
        var wanted = book
            .All.Where(one => one.Endpoint == endpoint && !changes.ContainsKey(one.Setting))
            .Concat(
                TuningValues
                    .Of(EndpointTunings.Merge(control.ConfiguredOf(endpoint)!, new EndpointTuning(), tuning))
                    .Select(one => new TunedSetting(
                        endpoint,
                        one.Key,
                        one.Value,
                        configured.GetValueOrDefault(one.Key),
                        decision.By,
                        time.GetUtcNow()
                    ))
            );
        await book.SetAsync(endpoint, [.. wanted], cancellationToken);
        if (isOurs)
            await facts.RecordAsync(endpoint, configured, before, book.Of(endpoint), decision);
    }

    private async Task ResetHereAsync(
        string endpoint,
        string? setting,
        OperatorDecision decision,
        bool isOurs,
        CancellationToken cancellationToken
    )
    {
        var before = book.Of(endpoint);
        await book.SetAsync(
            endpoint,
            [.. book.All.Where(one => one.Endpoint == endpoint && setting is not null && one.Setting != setting)],
            cancellationToken
        );
        await control.SetAsync(endpoint, book.Of(endpoint), cancellationToken);
        if (isOurs)
            await facts.RecordAsync(
                endpoint,
                TuningValues.Of(control.ConfiguredOf(endpoint) ?? new EndpointTuning()),
                before,
                book.Of(endpoint),
                decision
            );
    }

    private Task ObeyAsync(Guid from, TuneEndpoint command, CancellationToken cancellationToken) =>
        ObeyAsync(
            from,
            command.Endpoint,
            () =>
                TuneHereAsync(
                    command.Endpoint,
                    command.Tuning,
                    new OperatorDecision(command.By ?? "another host", null),
                    isOurs: false,
                    cancellationToken
                ),
            cancellationToken
        );

    private Task ObeyAsync(Guid from, ResetEndpoint command, CancellationToken cancellationToken) =>
        ObeyAsync(
            from,
            command.Endpoint,
            () =>
                ResetHereAsync(
                    command.Endpoint,
                    command.Setting,
                    new OperatorDecision("another host", null),
                    isOurs: false,
                    cancellationToken
                ),
            cancellationToken
        );

    private async Task ObeyAsync(Guid from, string endpoint, Func<Task> work, CancellationToken cancellationToken)
    {
        if (from == farm.Self.Id)
            return; // already applied
        try
        {
            await InTurnAsync(work, cancellationToken);
        }
        catch (EsbException ex)
        {
            LogRefused(endpoint, ex.Code, ex.Message); // the configurations of the two hosts differ
        }
    }

    [LoggerMessage(
        EventId = 2445,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint} was not changed as another host of the farm was: {Code}: {Reason}"
    )]
    private partial void LogRefused(string endpoint, string code, string reason);
}
