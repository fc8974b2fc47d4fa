namespace Esb.Core.Processes;

/// <summary>A running process. Thread-safe.</summary>
public interface IMessageProcess
{
    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>True if it hands messages to topics while it runs, and so fails while they are unavailable. Publishes through the outbox of
    /// a transaction do not count.</summary>
    bool NeedsTopics { get; }

    /// <summary>True if it may publish messages, or commit a transaction: then something is accepted before its sender has the
    /// answer.</summary>
    bool Accepts => true;

    /// <summary>Runs the steps; the context's message is then the result.</summary>
    /// <exception cref="Errors.EsbException">A step failed.</exception>
    ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken);
}

/// <summary>The processes of a running bus. Thread-safe.</summary>
public interface IProcessCatalog
{
    /// <summary>Returns the process of this name, which is activated at its first use.</summary>
    /// <exception cref="KeyNotFoundException">The process does not exist; the configuration was not checked.</exception>
    IMessageProcess Find(string name);

    /// <summary>Returns the steps behind a step that holds messages (<see cref="StepTraits.Holds"/>), as a process; null if the process
    /// does not exist, or has no such step there.</summary>
    /// <param name="name">The process.</param>
    /// <param name="place">The id or the path of the step that held the message.</param>
    IMessageProcess? FindBehind(string name, string place) => null;
}
