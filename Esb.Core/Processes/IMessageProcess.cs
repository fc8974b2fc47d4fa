namespace Esb.Core.Processes;

/// <summary>A process in service. Thread-safe.</summary>
public interface IMessageProcess
{
    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>Whether it hands messages to topics while it runs, and so fails while they take none. What goes by the outbox of a
    /// transaction does not count.</summary>
    bool NeedsTopics { get; }

    /// <summary>Runs the steps; the context's message is then what the process made of it.</summary>
    /// <exception cref="Errors.EsbException">A step failed.</exception>
    ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken);
}

/// <summary>The processes of a running bus. Thread-safe.</summary>
public interface IProcessCatalog
{
    /// <summary>The process of this name, which is put into service when it is first asked for.</summary>
    /// <exception cref="KeyNotFoundException">There is none; the configuration was not checked.</exception>
    IMessageProcess Find(string name);
}
