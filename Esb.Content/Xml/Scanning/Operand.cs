namespace Esb.Content.Xml.Scanning;

/// <summary>A part of an expression, compiled: what a scan makes of it.</summary>
internal abstract record Operand
{
    /// <summary>The nodes of a path.</summary>
    public sealed record Nodes(IReadOnlyList<PathStep> Path) : Operand;

    public sealed record Truth(Func<XmlScan, bool> Of) : Operand;

    public sealed record Number(Func<XmlScan, double> Of, double? Constant = null) : Operand;

    public sealed record Text(Func<XmlScan, string> Of, string? Constant = null) : Operand;
}
