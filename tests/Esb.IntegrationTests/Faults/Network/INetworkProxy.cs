namespace Esb.IntegrationTests.Faults.Network;

/// <summary>Stands between the hosts and a server, and does to their connections what networks do. One bad thing at a time.</summary>
internal interface INetworkProxy : IAsyncDisposable
{
    /// <summary>Where it listens, on loopback.</summary>
    int Port { get; }

    /// <summary>Every byte comes later, both ways.</summary>
    Task DelayAsync(TimeSpan latency, TimeSpan jitter);

    /// <summary>Bytes are taken and not passed on, both ways; no connection is closed. To either side the other one looks alive and
    /// silent.</summary>
    Task StallAsync();

    /// <summary>As <see cref="StallAsync"/>, but only for what the server says: half open.</summary>
    Task DeafenAsync();

    /// <summary>Every connection is reset, and every new one, until it is healed.</summary>
    Task ResetAsync();

    /// <summary>Each connection is closed after so many more bytes to the server, or from it.</summary>
    Task CutAfterAsync(long bytes, bool fromServer);

    /// <summary>Passes everything on again; what was held back goes on or is gone, with its connection.</summary>
    Task HealAsync();
}
