namespace Esb.Core.Storage;

/// <summary>Keeps what the next process of this host has to know should this one die. For one host alone, also where the store is
/// shared.</summary>
public interface IHostRunStore
{
    /// <summary>What was written last; a new record where nothing was.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: it cannot be read.</exception>
    HostRun Read();

    /// <summary>Replaces it. What is written survives the process, which is all that can die of a message; a loss of power may cost
    /// it.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-WRITE</c>: it cannot be written.</exception>
    void Write(HostRun run);
}

/// <summary>The state of a host from its start to its end.</summary>
public sealed record HostRun
{
    /// <summary>Whether a process runs, or died without being stopped.</summary>
    public bool IsRunning { get; init; }

    /// <summary>The endpoint whose queue is being opened after such a death; null while none is.</summary>
    public string? Opening { get; init; }

    /// <summary>How many processes in a row have begun to open it; each that died there is among them.</summary>
    public int Openings { get; init; }

    /// <summary>The endpoints that stay closed until an operator resumes them.</summary>
    public IReadOnlyList<string> Quarantined { get; init; } = [];
}
