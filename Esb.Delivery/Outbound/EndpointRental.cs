using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Esb.Delivery.Failures;

namespace Esb.Delivery.Outbound;

/// <summary>An instance of an endpoint, rented for one message. Used once, by one caller.</summary>
/// <remarks>A send that outlives its time-out and its cancellation is left behind: the message counts as timed out, and the pool gets another instance in its place.</remarks>
internal sealed class EndpointRental(
    OutboundEndpointConfig config, InstanceLease<IOutboundEndpoint> lease, StuckSends stuck, InstancePool<IOutboundEndpoint> pool, TimeProvider time, TimeSpan spent) : IDisposable
{
    /// <summary>The code of an attempt that took too long: it may have had its effect all the same.</summary>
    public const string TimeoutCode = "ESB-ENDPOINT-TIMEOUT";

    // What a cancelled send may take to end: to tell a database, for instance.
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan Least = TimeSpan.FromMilliseconds(1);

    private readonly TimeSpan _limit = config.Timeout - spent is var left && left > Least ? left : Least;
    private InstanceLease<IOutboundEndpoint> _lease = lease;

    /// <summary>Sends a message, as a part of a transaction or behind a fence where the endpoint can; the result is the outside's answer.</summary>
    /// <param name="message">What is sent.</param>
    /// <param name="unitOfWork">The transaction that the process is in; null outside of one.</param>
    /// <param name="fencingToken">Of the lease under which it is sent; null where any host may.</param>
    /// <param name="cancellationToken">Stops sending.</param>
    /// <exception cref="EsbException">It failed; never another type but for cancellation.</exception>
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, IUnitOfWork? unitOfWork, long? fencingToken, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(_limit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        var ended = either.Token;
        var started = time.GetTimestamp();
        string? error = null;
        try
        {
            // The process that the transaction belongs to ends it: nothing of it may go on behind its back.
            if (unitOfWork is not null && _lease.Instance is ITransactionalEndpoint transactional) return await transactional.SendAsync(message, unitOfWork, ended);

            // On a thread of its own: one that blocks it must not hold up whoever watches the time.
            return await WatchAsync(Task.Run(async () => await SendAsync(_lease.Instance, message, fencingToken, ended), CancellationToken.None), message.Id, ended);
        }
        catch (OperationCanceledException ex) when (timeout.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            error = TimeoutCode;
            throw new EndpointException(config.Name, TimeoutCode, $"The endpoint '{config.Name}' took longer than {config.Timeout.TotalSeconds:0.###} s.", isTransient: true, ex, FaultKind.Timeout) { IsUnanswered = true };
        }
        catch (Exception ex) when (ex is not EsbException && !(ex is OperationCanceledException && ended.IsCancellationRequested))
        {
            error = FailureText.Unforeseen;
            throw Unforeseen(config.Name, ex); // also where it gave up by itself: nobody here cancelled it
        }
        catch (Exception ex)
        {
            error = (ex as EsbException)?.Code ?? ex.GetType().FullName;
            throw;
        }
        finally
        {
            SendTelemetry.RecordAdapter(config.Name, message, time.GetElapsedTime(started), error);
        }
    }

    public void Dispose() => _lease.Dispose();

    /// <summary>The failure of an endpoint in a way that it did not foresee: worth another attempt, and never the end of its neighbours.</summary>
    public static EndpointException Unforeseen(string endpoint, Exception cause) =>
        new(endpoint, FailureText.Unforeseen, $"The endpoint '{endpoint}' failed: {cause.GetType().Name}.", isTransient: true, cause, FaultKind.Internal) { IsUnanswered = true };

    private static ValueTask<EsbMessage?> SendAsync(IOutboundEndpoint instance, EsbMessage message, long? fencingToken, CancellationToken cancellationToken) =>
        fencingToken is { } token && instance is IFencedEndpoint fenced ? fenced.SendAsync(message, token, cancellationToken) : instance.SendAsync(message, cancellationToken);

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
                return await sending.WaitAsync(Grace, time, CancellationToken.None); // it may have been done at the last moment
            }
            catch (TimeoutException)
            {
                if (sending.IsCompleted) return await sending; // or failed with a time-out of its own
                LeaveBehind(sending, messageId);
                throw new OperationCanceledException(ended);
            }
        }
    }

    // As many may be left behind as the pool is large; then their slots stay taken, so that what hangs does not grow without bound.
    private void LeaveBehind(Task sending, Guid messageId)
    {
        var left = _lease;
        _lease = default;
        var isReplaced = stuck.Add(messageId, pool.Status.Maximum);
        if (isReplaced) left.Abandon();
        _ = sending.ContinueWith(
            ended =>
            {
                _ = ended.Exception; // nobody waits for it any more
                stuck.Remove(messageId);
                if (isReplaced) (left.Instance as IDisposable)?.Dispose();
                else left.Dispose();
            },
            CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
    }
}
