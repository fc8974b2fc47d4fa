using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>Sends through an instance of an outbound endpoint's pool, within its time-out. Deliveries and calls share the pool. Thread-safe.</summary>
internal sealed class EndpointSender(OutboundEndpointConfig config, IOutboundAdapter adapter, TimeProvider time, ILoggerFactory loggers) : IAsyncDisposable
{
    private readonly StuckSends _stuck = new(config.Name, loggers.CreateLogger<StuckSends>());
    private readonly InstancePool<IOutboundEndpoint> _pool = new(
        $"endpoint {config.Name}",
        adapter.CreateInstance,
        new PoolLimits(config.PoolSize, config.PoolTimeout),
        time,
        loggers.CreateLogger<InstancePool<IOutboundEndpoint>>());

    public PoolStatus Pool => _pool.Status;

    /// <summary>Sends that still run although their time is up.</summary>
    public int Stuck => _stuck.Count;

    public IOutboundAdapter Adapter => adapter;

    /// <summary>Rents an instance; dispose the result to give it back.</summary>
    /// <exception cref="PoolTimeoutException">None became free in time.</exception>
    /// <exception cref="EndpointException">None could be made.</exception>
    public async ValueTask<EndpointRental> RentAsync(CancellationToken cancellationToken)
    {
        try
        {
            return new EndpointRental(config, await _pool.RentAsync(cancellationToken), _stuck, _pool, time);
        }
        catch (Exception ex) when (ex is not EsbException && !(ex is OperationCanceledException && cancellationToken.IsCancellationRequested))
        {
            throw EndpointRental.Unforeseen(config.Name, ex);
        }
    }

    /// <summary>Sends a message, as a part of a transaction where the endpoint can; the result is the outside's answer.</summary>
    /// <exception cref="EsbException">It failed; never another type but for cancellation.</exception>
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        using var rental = await RentAsync(cancellationToken);
        return await rental.SendAsync(message, unitOfWork, fencingToken: null, cancellationToken);
    }

    /// <summary>Lets so many instances exist at once, here and in what the endpoint bounds by that, and by how many deliver, besides.</summary>
    public void Resize(int poolSize, int processingThreads)
    {
        _pool.Resize(poolSize);
        adapter.Resize(poolSize, processingThreads);
    }

    public async ValueTask DisposeAsync()
    {
        await _pool.DisposeAsync();
        await adapter.DisposeAsync();
    }
}
