using Esb.Core.Configuration.Settings;

namespace Esb.Content.Masking;

/// <summary>What becomes of a masked value. Of several that meet, the last one here is done.</summary>
[ChoiceCode(MaskCompiler.Code)]
public enum MaskAction
{
    /// <summary>Its last four characters stay, of eight or more.</summary>
    Last4,

    /// <summary>A keyed hash takes its place, the same for the same value.</summary>
    Hash,

    /// <summary>It is taken out, with what names it.</summary>
    Drop,
}

/// <summary>A rule of what is made unreadable before anything is recorded or logged.</summary>
[ExactlyOne("xpath", "jsonpath", "form", "header", Code = MaskCompiler.Code)]
public sealed record MaskConfig : SettingsRecord
{
    /// <summary>Nodes of bodies that are XML: an element with all that is in it, an attribute, text.</summary>
    [Setting("An XPath 1.0 expression that selects nodes of XML bodies, with the prefixes of the section namespaces.")]
    public string? Xpath { get; init; }

    /// <summary>Values of bodies that are JSON.</summary>
    [Setting("A JSONPath that selects values of JSON bodies.")]
    public string? Jsonpath { get; init; }

    /// <summary>A field of bodies that are forms (<c>application/x-www-form-urlencoded</c>); case does not matter.</summary>
    [Setting("A field of form bodies (application/x-www-form-urlencoded): a name, or its beginning followed by *.")]
    public string? Form { get; init; }

    /// <summary>A header; case does not matter.</summary>
    [Setting("A header: a name, or its beginning followed by *.")]
    public string? Header { get; init; }

    /// <summary>What becomes of the value.</summary>
    [Setting("How the value is masked: removed, hidden but for its last four characters, or replaced by a keyed hash.")]
    public MaskAction Action { get; init; } = MaskAction.Drop;
}
