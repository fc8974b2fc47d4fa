namespace Esb.Core.Storage;

/// <summary>Stores the state that the next process of this host needs if this one dies. Used by one host only, even if the store is
/// shared.</summary>
public interface IHostRunStore
{
    /// <summary>Reads the last state; a new record if none was written.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: the state cannot be read.</exception>
    HostRun Read();

    /// <summary>Replaces the state. It survives the process, and a message can crash no more than the process; a power loss may lose
    /// it.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-WRITE</c>: the state cannot be written.</exception>
    void Write(HostRun run);
}

/// <summary>The state of a host from its start to its end.</summary>
public sealed record HostRun
{
    /// <summary>True if a process runs, or died without being stopped.</summary>
    public bool IsRunning { get; init; }

    /// <summary>The endpoint whose queue is being opened after a crash; null if none.</summary>
    public string? Opening { get; init; }

    /// <summary>Number of consecutive processes that have begun to open it, including those that died there.</summary>
    public int Openings { get; init; }

    /// <summary>Endpoints that stay closed until an operator resumes them.</summary>
    public IReadOnlyList<string> Quarantined { get; init; } = [];
}
