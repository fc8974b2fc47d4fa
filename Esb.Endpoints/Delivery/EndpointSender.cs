using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>Sends through an instance of an outbound endpoint's pool, within its time-out. Deliveries and calls share the pool.</summary>
internal sealed class EndpointSender(OutboundEndpointConfig config, IOutboundAdapter adapter, TimeProvider time, ILoggerFactory loggers) : IAsyncDisposable
{
    private readonly InstancePool<IOutboundEndpoint> _pool = new(
        $"endpoint {config.Name}",
        adapter.CreateInstance,
        new PoolLimits(config.PoolSize, config.PoolTimeout),
        time,
        loggers.CreateLogger<InstancePool<IOutboundEndpoint>>());

    public PoolStatus Pool => _pool.Status;

    public IOutboundAdapter Adapter => adapter;

    /// <summary>Sends a message, as a part of a transaction where the endpoint can; the result is the outside's answer.</summary>
    /// <exception cref="EsbException">It failed; never another type but for cancellation.</exception>
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        using var lease = await _pool.RentAsync(cancellationToken);
        using var timeout = new CancellationTokenSource(config.Timeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            return unitOfWork is not null && lease.Instance is ITransactionalEndpoint transactional
                ? await transactional.SendAsync(message, unitOfWork, either.Token)
                : await lease.Instance.SendAsync(message, either.Token);
        }
        catch (OperationCanceledException ex) when (timeout.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            throw new EndpointException(config.Name, "ESB-ENDPOINT-TIMEOUT", $"The endpoint '{config.Name}' took longer than {config.Timeout.TotalSeconds:0.###} s.", isTransient: true, ex, FaultKind.Timeout);
        }
        catch (Exception ex) when (ex is not (EsbException or OperationCanceledException))
        {
            // An endpoint that fails in a way it did not foresee: worth another attempt, and never the end of its neighbours.
            throw new EndpointException(config.Name, "ESB-ENDPOINT-FAILED", $"The endpoint '{config.Name}' failed: {ex.GetType().Name}.", isTransient: true, ex, FaultKind.Internal);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _pool.DisposeAsync();
        await adapter.DisposeAsync();
    }
}
