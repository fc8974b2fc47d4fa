using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Delivery.Polling;

/// <summary>Makes a message of a claimed item and hands it to the bus. Thread-safe where the source is.</summary>
/// <param name="intake">Takes the messages.</param>
public abstract class PolledHandOver<TItem>(IMessageIntake intake)
    where TItem : PolledItem
{
    /// <summary>Hands the item over.</summary>
    /// <returns>Completes when its message has arrived.</returns>
    /// <exception cref="EsbException">The item or its message was refused; where that is transient, only for now.</exception>
    public async Task<Task> HandOverAsync(TItem item, CancellationToken cancellationToken)
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
    /// <exception cref="EsbException">It cannot be used; where that is transient, only for now.</exception>
    protected abstract Task<MessageBody> ReadAsync(TItem item, CancellationToken cancellationToken);
}
