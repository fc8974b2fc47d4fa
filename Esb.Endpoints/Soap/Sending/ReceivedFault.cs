using System.Xml.Linq;
using Esb.Content.Xml;
using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Endpoints.Soap.Envelopes;

namespace Esb.Endpoints.Soap.Sending;

/// <summary>A fault that a service answered with. Immutable.</summary>
/// <param name="Code">Its code without a prefix, such as Client, Server.Busy or Receiver.</param>
/// <param name="Reason">Its text.</param>
/// <param name="Detail">The element in its detail, or the text of it; null if there is none.</param>
/// <param name="IsOfReceiver">True if the service is at fault, so that the same message may succeed later.</param>
internal sealed record ReceivedFault(string Code, string Reason, string? Detail, bool IsOfReceiver)
{
    private const int LongestReason = 4000;
    private const int LongestShown = 300;
    private const int LongestDetail = 64 * 1024;

    /// <summary>The text as it is shown to people.</summary>
    public string Shown => SafeText.Of(MaskedFlow.Clean(Reason), LongestShown);

    public static ReceivedFault Read(SoapEnvelope envelope, XmlInput xml)
    {
        using var reader = xml.Read(envelope.Body);
        reader.MoveToContent();
        var fault = XElement.Load(reader);
        XNamespace uri = envelope.Version.Namespace;
        var is11 = envelope.Version == SoapVersion.V11;
        var code = is11 ? Child(fault, "faultcode") : fault.Element(uri + "Code")?.Element(uri + "Value");
        var reason = is11 ? Child(fault, "faultstring") : fault.Element(uri + "Reason")?.Element(uri + "Text");
        var detail = is11 ? Child(fault, "detail") : fault.Element(uri + "Detail");
        var name = code?.Value.Trim() ?? "";
        var colon = name.IndexOf(':');
        var local = colon < 0 ? name : name[(colon + 1)..];
        // others have a meaning of their own
        var isOurs = code is not null && (colon < 0 || code.GetNamespaceOfPrefix(name[..colon]) == uri);
        return new ReceivedFault(
            local,
            SafeText.Of(reason?.Value.Trim(), LongestReason),
            TextOf(detail),
            isOurs && local.Split('.')[0] is ("Server" or "Receiver")
        );
    }

    // Some services of SOAP 1.1 qualify what the specification does not.
    private static XElement? Child(XElement fault, string name) =>
        fault.Elements().FirstOrDefault(element => element.Name.LocalName == name);

    private static string? TextOf(XElement? detail)
    {
        if (detail is null)
            return null;
        var text = detail.Elements().Count() == 1 ? detail.Elements().Single().ToString(SaveOptions.DisableFormatting) : detail.Value;
        return text.Length switch
        {
            0 => null,
            > LongestDetail => text[..LongestDetail],
            _ => text,
        };
    }
}
