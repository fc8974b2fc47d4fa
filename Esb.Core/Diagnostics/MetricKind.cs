namespace Esb.Core.Diagnostics;

/// <summary>Kinds of instruments, as OpenTelemetry has them.</summary>
public enum MetricKind
{
    /// <summary>A sum that only grows.</summary>
    Counter,

    /// <summary>A sum that grows and shrinks.</summary>
    UpDownCounter,

    /// <summary>A value at the moment of asking.</summary>
    Gauge,

    /// <summary>A distribution of values.</summary>
    Histogram,
}
