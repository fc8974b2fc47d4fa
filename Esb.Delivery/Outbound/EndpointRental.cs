using System.Runtime.CompilerServices;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Delivery.Failures;

namespace Esb.Delivery.Outbound;

/// <summary>An instance of an endpoint, rented for one message. Used once, by one caller.</summary>
/// <remarks>A send that ignores its time-out and its cancellation is abandoned: the message counts as timed out, and a new instance
/// replaces the rented one in the pool.</remarks>
internal sealed class EndpointRental(
    OutboundEndpointConfig config,
    InstanceLease<IOutboundEndpoint> lease,
    StuckSends stuck,
    InstancePool<IOutboundEndpoint> pool,
    SendDemand demand,
    TimeProvider time,
    TimeSpan spent,
    IEndpointMarks? numbers = null
) : IDisposable
{
    /// <summary>The error code of an attempt that timed out; it may have taken effect.</summary>
    public const string TimeoutCode = "ESB-ENDPOINT-TIMEOUT";

    // The time a cancelled send may take to end, for example to cancel a database command.
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan Least = TimeSpan.FromMilliseconds(1);

    private readonly TimeSpan _limit = config.Timeout - spent is var left && left > Least ? left : Least;
    private InstanceLease<IOutboundEndpoint> _lease = lease;

    /// <summary>Sends a message, within a transaction or behind a fence if the endpoint supports it; returns the reply of the external
    /// system.</summary>
    /// <param name="message">The message to send.</param>
    /// <param name="unitOfWork">The transaction of the process; null outside a transaction.</param>
    /// <param name="fencingToken">The fencing token of the lease; null if any host may send.</param>
    /// <param name="cancellationToken">Cancels the send.</param>
    /// <exception cref="EsbException">The send failed; no other type is thrown except for cancellation.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<EsbMessage?> SendAsync(
        EsbMessage message,
        IUnitOfWork? unitOfWork,
        long? fencingToken,
        CancellationToken cancellationToken
    )
    {
        using var limit = new TimeLimit(_limit, time, cancellationToken);
        var ended = limit.Token;
        var started = time.GetTimestamp();
        string? error = null;
        try
        {
            if (numbers is not null)
                message = message with { Sequence = await numbers.NumberAsync(config.Name, message.Id, ended) };

            // The process that owns the transaction ends it, so the send must not outlive this call.
            if (unitOfWork is not null && _lease.Instance is ITransactionalEndpoint transactional)
                return await transactional.SendAsync(message, unitOfWork, ended);

            if (_lease.Instance.IsAsynchronous)
                return await SendAsync(_lease.Instance, message, fencingToken, ended);

            return await SendApartAsync(_lease.Instance, message, fencingToken, ended);
        }
        catch (OperationCanceledException ex) when (limit.IsOver)
        {
            error = TimeoutCode;
            throw new EndpointException(
                config.Name,
                TimeoutCode,
                $"The endpoint '{config.Name}' took longer than {config.Timeout.TotalSeconds:0.###} s.",
                isTransient: true,
                ex,
                FaultKind.Timeout
            )
            {
                IsUnanswered = true,
            };
        }
        catch (Exception ex) when (ex is not EsbException && !(ex is OperationCanceledException && ended.IsCancellationRequested))
        {
            error = FailureText.Unforeseen;
            throw Unforeseen(config.Name, ex); // also an unexpected cancellation by the endpoint itself
        }
        catch (Exception ex)
        {
            error = (ex as EsbException)?.Code ?? ex.GetType().FullName;
            throw;
        }
        finally
        {
            var elapsed = time.GetElapsedTime(started);
            demand.Add(elapsed);
            SendTelemetry.RecordAdapter(config.Name, message, elapsed, error);
        }
    }

    public void Dispose() => _lease.Dispose();

    /// <summary>An unexpected failure of an endpoint: it is retried, and does not affect other endpoints.</summary>
    public static EndpointException Unforeseen(string endpoint, Exception cause) =>
        new(
            endpoint,
            FailureText.Unforeseen,
            $"The endpoint '{endpoint}' failed: {cause.GetType().Name}.",
            isTransient: true,
            cause,
            FaultKind.Internal
        )
        {
            IsUnanswered = true,
        };

    private static ValueTask<EsbMessage?> SendAsync(
        IOutboundEndpoint instance,
        EsbMessage message,
        long? fencingToken,
        CancellationToken cancellationToken
    ) =>
        fencingToken is { } token && instance is IFencedEndpoint fenced
            ? fenced.SendAsync(message, token, cancellationToken)
            : instance.SendAsync(message, cancellationToken);

    // Runs on a separate thread, so that a blocking endpoint does not defeat the time-out.
    private Task<EsbMessage?> SendApartAsync(IOutboundEndpoint instance, EsbMessage message, long? fencingToken, CancellationToken ended) =>
        WatchAsync(
            Task.Run(async () => await SendAsync(instance, message, fencingToken, ended), CancellationToken.None),
            message.Id,
            ended
        );

    private async Task<EsbMessage?> WatchAsync(Task<EsbMessage?> sending, Guid messageId, CancellationToken ended)
    {
        try
        {
            return await sending.WaitAsync(ended);
        }
        catch (OperationCanceledException)
        {
            try
            {
                return await sending.WaitAsync(Grace, time, CancellationToken.None); // it may still complete
            }
            catch (TimeoutException)
            {
                if (sending.IsCompleted)
                    return await sending; // or failed with its own time-out
                LeaveBehind(sending, messageId);
                throw new OperationCanceledException(ended);
            }
        }
    }

    // At most as many sends as the pool size are abandoned and replaced. Beyond that their slots stay occupied, which bounds hung sends.
    private void LeaveBehind(Task sending, Guid messageId)
    {
        var left = _lease;
        _lease = default;
        var isReplaced = stuck.Add(messageId, pool.Status.Maximum);
        if (isReplaced)
            left.Abandon();
        _ = sending.ContinueWith(
            ended =>
            {
                _ = ended.Exception; // marks the exception as observed
                stuck.Remove(messageId);
                if (isReplaced)
                    (left.Instance as IDisposable)?.Dispose();
                else
                    left.Dispose();
            },
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default
        );
    }
}
