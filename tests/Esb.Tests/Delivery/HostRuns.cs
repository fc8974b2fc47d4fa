using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Tests.Delivery;

/// <summary>The state of a host in memory; a test sets what an earlier process left.</summary>
internal sealed class HostRuns : IHostRunStore
{
    public HostRun Left { get; set; } = new();

    public bool IsFull { get; set; }

    public HostRun Read() => Left;

    public void Write(HostRun run) =>
        Left = IsFull ? throw new EsbException("ESB-STORE-WRITE", "The store could not be written.", FaultKind.Unavailable) : run;
}
