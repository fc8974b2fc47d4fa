using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Esb.Delivery.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Sends through an instance of an outbound endpoint's pool, within its time-out. Deliveries and calls share the pool. Thread-safe.</summary>
/// <remarks>The processes that the endpoint names run around it, so that no type of endpoint knows of them.</remarks>
internal sealed class EndpointSender(
    OutboundEndpointConfig config, IOutboundAdapter adapter, TimeProvider time, ILoggerFactory loggers, EndpointProcesses? processes = null) : IAsyncDisposable
{
    private readonly EndpointProcesses _processes = processes ?? new EndpointProcesses(config, process: null, reply: null, time);
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

    /// <summary>The processes that run before a message is sent, and on its answer.</summary>
    public EndpointProcesses Processes => _processes;

    /// <summary>Rents an instance; dispose the result to give it back.</summary>
    /// <param name="spent">The part of the attempt's time that is used up.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="PoolTimeoutException">None became free in time.</exception>
    /// <exception cref="EndpointException">None could be made.</exception>
    public async ValueTask<EndpointRental> RentAsync(TimeSpan spent, CancellationToken cancellationToken)
    {
        try
        {
            return new EndpointRental(config, await _pool.RentAsync(cancellationToken), _stuck, _pool, time, spent);
        }
        catch (Exception ex) when (ex is not EsbException && !(ex is OperationCanceledException && cancellationToken.IsCancellationRequested))
        {
            throw EndpointRental.Unforeseen(config.Name, ex);
        }
    }

    /// <summary>Sends a message, as a part of a transaction where the endpoint can; the result is the outside's answer, as <c>reply</c>
    /// makes it.</summary>
    /// <exception cref="EsbException">It failed; never another type but for cancellation.</exception>
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        var prepared = await _processes.PrepareAsync(message, unitOfWork, cancellationToken);
        if (prepared.IsFiltered) return prepared.Message;
        var answer = await SendAsync(prepared, unitOfWork, cancellationToken);
        return await _processes.ReplyAsync(message, answer, unitOfWork, cancellationToken);
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

    private async ValueTask<EsbMessage?> SendAsync(PreparedMessage prepared, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        using var rental = await RentAsync(prepared.Spent, cancellationToken);
        return await rental.SendAsync(prepared.Message, unitOfWork, fencingToken: null, cancellationToken);
    }
}
