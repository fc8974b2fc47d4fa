using System.Runtime.CompilerServices;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Delivery.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Sends through a pooled instance of an outbound endpoint, within its time-out. Deliveries and calls share the pool.
/// Thread-safe.</summary>
/// <remarks>The endpoint's processes run around the send, independent of the endpoint type.</remarks>
internal sealed class EndpointSender(
    OutboundEndpointConfig config,
    IOutboundAdapter adapter,
    TimeProvider time,
    ILoggerFactory loggers,
    EndpointProcesses? processes = null,
    IEndpointMarks? numbers = null
) : IAsyncDisposable
{
    private readonly EndpointProcesses _processes = processes ?? new EndpointProcesses(config, process: null, reply: null, time);
    private readonly StuckSends _stuck = new(config.Name, loggers.CreateLogger<StuckSends>());
    private readonly InstancePool<IOutboundEndpoint> _pool = new(
        $"endpoint {config.Name}",
        adapter.CreateInstance,
        new PoolLimits(config.PoolSize, config.PoolTimeout),
        time,
        loggers.CreateLogger<InstancePool<IOutboundEndpoint>>()
    );

    private readonly SendDemand _demand = new(time);

    public PoolStatus Pool => _pool.Status;

    /// <summary>Advice on the size of the pool; null if there is none.</summary>
    public string? Sizing => PoolSizing.Of(_pool.Status, _demand);

    /// <summary>The number of sends that still run after their time-out.</summary>
    public int Stuck => _stuck.Count;

    public IOutboundAdapter Adapter => adapter;

    /// <summary>The processes that run before the send and on the answer.</summary>
    public EndpointProcesses Processes => _processes;

    /// <summary>Rents an instance; disposing the result returns it.</summary>
    /// <param name="spent">The part of the attempt's time that is already used.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="PoolTimeoutException">No instance became free in time.</exception>
    /// <exception cref="EndpointException">No instance could be created.</exception>
    public async ValueTask<EndpointRental> RentAsync(TimeSpan spent, CancellationToken cancellationToken)
    {
        try
        {
            return new EndpointRental(config, await _pool.RentAsync(cancellationToken), _stuck, _pool, _demand, time, spent, numbers);
        }
        catch (Exception ex)
            when (ex is not EsbException && !(ex is OperationCanceledException && cancellationToken.IsCancellationRequested))
        {
            throw EndpointRental.Unforeseen(config.Name, ex);
        }
    }

    /// <summary>Sends a message, within a transaction if the endpoint supports it; returns the reply of the external system after the
    /// <c>reply</c> process.</summary>
    /// <exception cref="EsbException">The send failed; no other type is thrown except for cancellation.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        var prepared = await _processes.PrepareAsync(message, unitOfWork, cancellationToken);
        if (prepared.IsFiltered)
            return prepared.Message;
        EsbMessage? answer;
        using (var rental = await RentAsync(prepared.Spent, cancellationToken))
            answer = await rental.SendAsync(prepared.Message, unitOfWork, fencingToken: null, cancellationToken);
        return await _processes.ReplyAsync(message, answer, unitOfWork, cancellationToken);
    }

    /// <summary>Sets the maximum number of instances, and the endpoint's own limits that depend on it and on the number of concurrent
    /// deliveries.</summary>
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
