using Esb.Core;
using Esb.Core.Errors;
using Esb.Core.Processes.Tracing;
using Esb.Core.Topics;

namespace Esb.Host.Management.Traces;

/// <summary>Traces on all hosts of the farm: a message may come to any of them.</summary>
internal sealed partial class FarmTraces(IProcessTraces traces, IFarm farm, ILogger<FarmTraces> logger) : IBusPart
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    private readonly List<IDisposable> _hearing = [];

    public BusStage Stage => BusStage.Outbound;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _hearing.Add(
            farm.Subscribe<StartTrace>(
                (from, command, _) =>
                {
                    if (from != farm.Self.Id && IsSound(command.Order))
                        Obey(command.Order);
                    return Task.CompletedTask;
                }
            )
        );
        _hearing.Add(
            farm.Subscribe<StopTrace>(
                (_, command, _) =>
                {
                    traces.Stop(command.Id);
                    return Task.CompletedTask;
                }
            )
        );
        _hearing.Add(farm.Answer<AskTraces, ToldTraces>((_, _) => Task.FromResult(Tell())));
        _hearing.Add(
            farm.Answer<AskTraced, ToldTraced>((question, _) => Task.FromResult(new ToldTraced(traces.Find(question.Trace, question.Pass))))
        );
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        _hearing.ForEach(hearing => hearing.Dispose());
        _hearing.Clear();
        return Task.CompletedTask;
    }

    /// <summary>Begins a trace on every host.</summary>
    /// <exception cref="EsbException"><c>ESB-API-TRACED</c> on this host; <c>ESB-FARM-UNAVAILABLE</c>: it runs on this host, and perhaps
    /// not on the others.</exception>
    public async Task<TraceView> BeginAsync(TraceOrder order, CancellationToken cancellationToken)
    {
        var trace = traces.Start(order);
        if (farm.Hosts.Count > 1)
            await farm.BroadcastAsync(new StartTrace(order), cancellationToken);
        return TraceView.Of([new HostTrace(farm.Self.Name, trace)]) with { Hosts = [.. farm.Hosts.Select(host => host.Name)] };
    }

    /// <summary>Ends a trace on every host.</summary>
    public async Task EndAsync(Guid id, CancellationToken cancellationToken)
    {
        traces.Stop(id);
        if (farm.Hosts.Count > 1)
            await farm.BroadcastAsync(new StopTrace(id), cancellationToken);
    }

    /// <summary>The traces of all hosts that answer, newest first.</summary>
    public async Task<IReadOnlyList<TraceView>> AllAsync(CancellationToken cancellationToken)
    {
        List<HostTrace> parts = [.. Tell().Traces];
        if (farm.Hosts.Count > 1)
        {
            var told = await farm.AskOthersAsync<AskTraces, ToldTraces>(new AskTraces(), Patience, cancellationToken);
            parts.AddRange(told.Answers.SelectMany(answer => answer.Answer.Traces));
        }

        return
        [
            .. parts
                .GroupBy(part => part.Trace.Order.Id)
                .Select(group => TraceView.Of([.. group]))
                .OrderByDescending(trace => trace.StartedAt),
        ];
    }

    /// <summary>A message that a trace recorded on any host; null if there is none.</summary>
    public async Task<TracedMessage?> FindAsync(Guid trace, Guid pass, CancellationToken cancellationToken)
    {
        var here = traces.Find(trace, pass);
        if (here is not null || farm.Hosts.Count == 1)
            return here;
        var told = await farm.AskOthersAsync<AskTraced, ToldTraced>(new AskTraced(trace, pass), Patience, cancellationToken);
        return told.Answers.Select(answer => answer.Answer.Message).FirstOrDefault(message => message is not null);
    }

    private ToldTraces Tell() => new([.. traces.All.Select(trace => new HostTrace(farm.Self.Name, trace))]);

    // What the management API checks of its callers, for commands of other hosts: they may be of another version.
    private static bool IsSound(TraceOrder order) =>
        order is { Count: > 0 and <= TraceOrder.MostMessages, Where.Count: <= TraceRoutes.MostConditions }
        && order.For >= TraceOrder.Shortest
        && order.For <= TraceOrder.Longest;

    private void Obey(TraceOrder order)
    {
        try
        {
            traces.Start(order);
        }
        catch (EsbException ex)
        {
            LogNotTraced(order.Endpoint, ex.Message);
        }
    }

    [LoggerMessage(EventId = 5150, Level = LogLevel.Warning, Message = "endpoint {Endpoint} is not traced on this host: {Reason}")]
    private partial void LogNotTraced(string endpoint, string reason);
}

/// <summary>Command to hosts to begin a trace.</summary>
internal sealed record StartTrace(TraceOrder Order);

/// <summary>Command to hosts to end a trace.</summary>
internal sealed record StopTrace(Guid Id);

/// <summary>Question for the traces of a host.</summary>
internal sealed record AskTraces;

/// <summary>The traces of a host.</summary>
internal sealed record ToldTraces(IReadOnlyList<HostTrace> Traces);

/// <summary>Question for a message that a trace recorded.</summary>
internal sealed record AskTraced(Guid Trace, Guid Pass);

/// <summary>The message; null if the host did not record it.</summary>
internal sealed record ToldTraced(TracedMessage? Message);
