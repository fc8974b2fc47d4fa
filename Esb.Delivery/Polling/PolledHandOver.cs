using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Delivery.Polling;

/// <summary>Creates a message from a claimed item and hands it to the bus. Thread-safe if the source is.</summary>
/// <param name="intake">Receives the messages.</param>
public abstract class PolledHandOver<TItem>(IMessageIntake intake)
    where TItem : PolledItem
{
    /// <summary>Hands an item over.</summary>
    /// <returns>A task that completes when the message has arrived.</returns>
    /// <exception cref="EsbException">The item or its message was refused; temporarily, if the error is transient.</exception>
    public virtual async Task<Task> HandOverAsync(TItem item, CancellationToken cancellationToken)
    {
        var message = Envelope(item);
        try
        {
            message = message with { Body = await ReadAsync(item, cancellationToken) };
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            await intake.RefuseAsync(message, ex.Code, ex.Message, cancellationToken);
            throw;
        }

        var result = await intake.ReceiveAsync(message, cancellationToken);
        return result.IsDurable ? Task.CompletedTask : result.Settled;
    }

    /// <summary>The message without its body, under the id of the item.</summary>
    protected abstract EsbMessage Envelope(TItem item);

    /// <summary>Reads the body.</summary>
    /// <exception cref="EsbException">The body cannot be used; temporarily, if the error is transient.</exception>
    protected abstract Task<MessageBody> ReadAsync(TItem item, CancellationToken cancellationToken);
}
