using System.Text.RegularExpressions;
using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.MassTransit;

/// <summary>The name of a message type, as MassTransit names its exchange: <c>Shop.Contracts:OrderAccepted</c>. Immutable.</summary>
/// <param name="Value">The name as written; a nested type follows its outer type and a plus sign.</param>
public sealed partial record MessageTypeName(string Value) : ITextSetting<MessageTypeName>
{
    private const int MaxLength = 200; // an exchange's name has at most 255 bytes, and that of faults adds some

    /// <inheritdoc/>
    public static string Code => "ESB-CFG-VALUE";

    /// <inheritdoc/>
    public static string Expected =>
        "expected a namespace and a type, such as \"Shop.Contracts:OrderAccepted\"; a nested type as \"Shop.Contracts:Orders+Accepted\"";

    /// <summary>The name in an envelope.</summary>
    public string Urn => $"urn:message:{Value}";

    /// <summary>The name of the exchange that MassTransit makes for the type.</summary>
    public string Exchange => Value.Replace('+', '-');

    /// <summary>The name, in an envelope, of the fault of a message of the type.</summary>
    public string FaultUrn => $"urn:message:MassTransit:Fault[[{Value}]]";

    (string Section, string Name)? ITextSetting<MessageTypeName>.Reference => null;

    /// <inheritdoc/>
    public static MessageTypeName? Parse(string text) =>
        text.Length <= MaxLength && Form().IsMatch(text) ? new MessageTypeName(text) : null;

    /// <inheritdoc/>
    public override string ToString() => Value;

    [GeneratedRegex(@"\A[\p{L}_]\w*(\.[\p{L}_]\w*)*:[\p{L}_]\w*(\+[\p{L}_]\w*)*\z")]
    private static partial Regex Form();
}
