using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Amqp;

/// <summary>A version of AMQP, as the configuration names it.</summary>
/// <param name="Version">The version.</param>
public sealed record AmqpProtocol(string Version) : ITextSetting<AmqpProtocol>
{
    private const string Latest = "1.0";

    /// <summary>The version that is spoken.</summary>
    public static readonly AmqpProtocol Spoken = new("0-9-1");

    /// <inheritdoc/>
    public static string Code => "ESB-CFG-VALUE";

    /// <inheritdoc/>
    public static string Expected => "expected \"0-9-1\"";

    /// <summary>True if this version is spoken; the other is designed, and not implemented.</summary>
    public bool IsSpoken => this == Spoken;

    (string Section, string Name)? ITextSetting<AmqpProtocol>.Reference => null;

    /// <inheritdoc/>
    public static AmqpProtocol? Parse(string text) => text == Spoken.Version || text == Latest ? new AmqpProtocol(text) : null;

    /// <inheritdoc/>
    public override string ToString() => Version;
}
