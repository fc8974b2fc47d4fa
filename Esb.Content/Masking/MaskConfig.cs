using Esb.Core.Configuration.Settings;

namespace Esb.Content.Masking;

/// <summary>Actions on a masked value. If several rules match it, the action listed last here applies.</summary>
[ChoiceCode(MaskCompiler.Code)]
public enum MaskAction
{
    /// <summary>Keeps its last four characters, if it has eight or more.</summary>
    Last4,

    /// <summary>Replaces it with a keyed hash; equal values have equal hashes.</summary>
    Hash,

    /// <summary>Removes it, with its name.</summary>
    Drop,
}

/// <summary>A rule that masks values before anything is recorded or logged.</summary>
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
