using Esb.Configuration;
using Esb.Core.Configuration;

namespace Esb.Content.Transforms;

/// <summary>What keeps one run of a map from taking the host down.</summary>
internal sealed record TransformLimits
{
    /// <summary>How long it may recurse.</summary>
    public TimeSpan Time { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Bytes that it may make.</summary>
    public long OutputBytes { get; init; } = 4 * ByteSize.MiB(4).Bytes;

    /// <summary>The limits of a configuration: a map may make a message several times larger, as from a terse format to a wordy
    /// one.</summary>
    public static TransformLimits From(LimitsConfig limits) => new() { OutputBytes = 4 * limits.MaxBodySize.Bytes };
}
