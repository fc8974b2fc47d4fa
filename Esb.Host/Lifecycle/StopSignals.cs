using System.Runtime.InteropServices;

namespace Esb.Host.Lifecycle;

/// <summary>Handles SIGTERM and SIGINT: the first requests a graceful stop, the second abandons the remaining work, and the third ends the
/// process by default handling.</summary>
internal sealed class StopSignals : IDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationTokenSource _abandon = new();
    private readonly PosixSignalRegistration[] _registrations;

    public StopSignals() =>
        _registrations = [
            PosixSignalRegistration.Create(PosixSignal.SIGTERM, Handle),
            PosixSignalRegistration.Create(PosixSignal.SIGINT, Handle),
        ];

    /// <summary>Cancelled by the first signal.</summary>
    public CancellationToken Stop => _stop.Token;

    /// <summary>Cancelled by the second signal.</summary>
    public CancellationToken Abandon => _abandon.Token;

    public void Dispose()
    {
        foreach (var registration in _registrations)
            registration.Dispose();
        _stop.Dispose();
        _abandon.Dispose();
    }

    private void Handle(PosixSignalContext context)
    {
        if (_abandon.IsCancellationRequested)
            return;
        context.Cancel = true; // the process ends with the host
        (_stop.IsCancellationRequested ? _abandon : _stop).Cancel();
    }
}
