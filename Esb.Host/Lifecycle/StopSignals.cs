using System.Runtime.InteropServices;

namespace Esb.Host.Lifecycle;

/// <summary>Listens to SIGTERM and SIGINT: the first asks the host to finish its work and stop, the second to drop it, and the third ends the process as it ends any.</summary>
internal sealed class StopSignals : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationTokenSource _abandon = new();
    private readonly PosixSignalRegistration[] _registrations;

    public StopSignals() => _registrations =
    [
        PosixSignalRegistration.Create(PosixSignal.SIGTERM, Handle),
        PosixSignalRegistration.Create(PosixSignal.SIGINT, Handle),
    ];

    /// <summary>Cancelled by the first signal.</summary>
    public CancellationToken Stop => _stop.Token;

    /// <summary>Cancelled by the second one.</summary>
    public CancellationToken Abandon => _abandon.Token;

    public void Dispose()
    {
        foreach (var registration in _registrations) registration.Dispose();
        _stop.Dispose();
        _abandon.Dispose();
    }

    private void Handle(PosixSignalContext context)
    {
        if (_abandon.IsCancellationRequested) return;
        context.Cancel = true; // the process ends when the host has
        (_stop.IsCancellationRequested ? _abandon : _stop).Cancel();
    }
}
