using Esb.Content.Xml.Scanning;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>An XPath over the body that needs no tree. Gives what <see cref="XPathValue"/> gives, and reads only as far as it
/// must.</summary>
internal sealed class ScannedValue(Func<XmlScan, object?> evaluate, PathSet paths) : IMessageValue
{
    public bool ReadsBody => true;

    public object? Evaluate(MessageContext context) => evaluate(paths.Scan(context.Message.Body));
}

/// <summary>An XPath that stands alone as a condition and needs no tree.</summary>
internal sealed class ScannedCondition(Func<XmlScan, bool> holds, PathSet paths) : IMessageCondition
{
    public bool ReadsBody => true;

    public bool Holds(MessageContext context) => holds(paths.Scan(context.Message.Body));
}
