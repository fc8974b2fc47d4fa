using System.Text.Json;

namespace Esb.Host.Management.Events;

/// <summary>The kinds of events.</summary>
internal enum BusEventKind
{
    /// <summary>The state of an endpoint has changed.</summary>
    Endpoint,

    /// <summary>Messages became dead letters, or dead letters were replayed or discarded.</summary>
    DeadLetter,

    /// <summary>Messages were parked, released or discarded.</summary>
    Parked,

    /// <summary>The state of a workflow has changed.</summary>
    Workflow,

    /// <summary>Another revision is in service.</summary>
    Configuration,

    /// <summary>A host has joined or left the farm.</summary>
    Host,

    /// <summary>A load has crossed its high mark, or has fallen to the low one.</summary>
    Mark,

    /// <summary>The rates of the last second.</summary>
    Rates,

    /// <summary>A line of the log.</summary>
    Log,
}

/// <summary>An event of the stream. Immutable; shared by all readers.</summary>
/// <param name="Number">Its number in the run of this host.</param>
/// <param name="Kind">Its kind.</param>
/// <param name="Json">Its data on one line.</param>
internal sealed record BusEvent(long Number, BusEventKind Kind, string Json)
{
    public string KindName => NameOf(Kind);

    /// <summary>The memory that it takes, in bytes, about.</summary>
    public int Size => 64 + (2 * Json.Length);

    public static string NameOf(BusEventKind kind) => JsonNamingPolicy.KebabCaseLower.ConvertName(kind.ToString());
}
