namespace Esb.Content.Formats;

/// <summary>The forms of content that need no entry in the section <c>formats</c>.</summary>
public static class ContentForms
{
    /// <summary>JSON.</summary>
    public const string Json = "json";

    /// <summary>XML.</summary>
    public const string Xml = "xml";

    /// <summary>The element that stands for a record, or for an item of an array, in XML.</summary>
    internal const string Row = "row";
}
