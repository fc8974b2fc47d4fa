using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.SingleInstance;

/// <summary>An inbound endpoint of which only one host of the farm runs an instance at a time. Each time this host becomes the one, it makes a new instance.</summary>
internal sealed class SingleInstanceEndpoint : IInboundEndpoint
{
    private readonly Func<IMessageIntake, IInboundEndpoint> _create;
    private readonly SingleInstanceIntake _intake;
    private readonly LeaseHolder _holder;
    private CancellationToken _abort;

    public SingleInstanceEndpoint(
        string name, string host, IMessageIntake intake, Func<IMessageIntake, IInboundEndpoint> create, ILeaseStore leases, TimeProvider time, ILogger<LeaseHolder> logger)
    {
        _create = create;
        _intake = new SingleInstanceIntake(name, intake, () => IsHeld);
        _holder = new LeaseHolder($"endpoint {name}", host, leases, RunAsync, time, logger);
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

    private async Task RunAsync(Lease lease, CancellationToken lost)
    {
        await using var endpoint = _create(_intake);
        await endpoint.StartAsync(lost);
        var gone = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using (lost.Register(gone.SetResult)) await gone.Task;
        await endpoint.StopAsync(_abort);
    }
}
