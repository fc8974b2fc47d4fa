using Esb.Core.Endpoints;
using Esb.Core.Errors;

namespace Esb.Delivery.SingleInstance;

/// <summary>An inbound endpoint that runs on one host of the farm at a time. This host creates a new instance each time it acquires the
/// lease.</summary>
internal sealed class SingleInstanceEndpoint : IInboundEndpoint
{
    private readonly Func<IMessageIntake, IInboundEndpoint> _create;
    private readonly SingleInstanceIntake _intake;
    private readonly LeaseHolder _holder;
    private volatile IInboundEndpoint? _running;
    private volatile string? _failure;
    private CancellationToken _abort;

    public SingleInstanceEndpoint(
        string name,
        IMessageIntake intake,
        Func<IMessageIntake, IInboundEndpoint> create,
        SingleInstances singles
    )
    {
        _create = create;
        _intake = new SingleInstanceIntake(name, intake, () => IsHeld);
        _holder = singles.Hold(name, RunAsync);
    }

    /// <summary>True if it runs on this host.</summary>
    public bool IsHeld => _holder.IsHeld;

    /// <summary>True if this host has the lease and the instance does not run yet.</summary>
    public bool IsStarting => IsHeld && _running is null;

    /// <summary>The reason why the last attempt to start an instance failed on this host; null if none failed.</summary>
    public string? Failure => _failure;

    public string? Reason => _running?.Reason;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _holder.Start();
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        _abort = cancellationToken;
        await _holder.DisposeAsync();
    }

    public ValueTask DisposeAsync() => _holder.DisposeAsync();

    private async Task RunAsync(HeldLease held, CancellationToken ending)
    {
        await using var endpoint = await StartInstanceAsync(ending);
        (_running, _failure) = (endpoint, null);
        await Task.Delay(Timeout.Infinite, ending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _running = null;
        await endpoint.StopAsync(_abort);
    }

    private async Task<IInboundEndpoint> StartInstanceAsync(CancellationToken ending)
    {
        IInboundEndpoint? endpoint = null;
        try
        {
            endpoint = _create(_intake);
            await endpoint.StartAsync(ending);
            return endpoint;
        }
        catch (Exception ex)
        {
            if (ex is not (OperationCanceledException or EsbException { Kind: FaultKind.Unavailable }))
                _failure = ex.Message;
            if (endpoint is not null)
                await endpoint.DisposeAsync();
            throw;
        }
    }
}
