namespace Esb.Core.Storage;

/// <summary>Takes dead letters from parts of the bus that receive messages without a queue. Thread-safe.</summary>
public interface IDeadLetterChannel
{
    /// <summary>Keeps a dead letter; durable and recorded when it returns.</summary>
    /// <exception cref="Errors.EsbException">The letter could not be stored or recorded. Storing it again is safe.</exception>
    ValueTask KeepAsync(DeadLetter letter, CancellationToken cancellationToken);
}
