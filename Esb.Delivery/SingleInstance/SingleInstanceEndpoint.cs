using Esb.Core.Endpoints;

namespace Esb.Delivery.SingleInstance;

/// <summary>An inbound endpoint of which only one host of the farm runs an instance at a time. Each time this host becomes the one, it makes a new instance.</summary>
internal sealed class SingleInstanceEndpoint : IInboundEndpoint
{
    private readonly Func<IMessageIntake, IInboundEndpoint> _create;
    private readonly SingleInstanceIntake _intake;
    private readonly LeaseHolder _holder;
    private CancellationToken _abort;

    public SingleInstanceEndpoint(string name, IMessageIntake intake, Func<IMessageIntake, IInboundEndpoint> create, SingleInstances singles)
    {
        _create = create;
        _intake = new SingleInstanceIntake(name, intake, () => IsHeld);
        _holder = singles.Hold(name, RunAsync);
    }

    /// <summary>Whether it runs on this host.</summary>
    public bool IsHeld => _holder.IsHeld;

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
        await using var endpoint = _create(_intake);
        await endpoint.StartAsync(ending);
        await Task.Delay(Timeout.Infinite, ending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await endpoint.StopAsync(_abort);
    }
}
