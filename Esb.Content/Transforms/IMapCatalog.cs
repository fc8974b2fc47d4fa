using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Transforms;

/// <summary>The maps of the section <c>maps</c>, compiled. Thread-safe.</summary>
public interface IMapCatalog
{
    /// <summary>The map of this name; null where there is none or it could not be compiled, which the configuration's check reports.</summary>
    IMessageMap? Find(string name);
}

/// <summary>A compiled map (Message Translator). Immutable and thread-safe.</summary>
public interface IMessageMap
{
    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>The media type of what it makes, with its charset.</summary>
    string ContentType { get; }

    /// <summary>Makes another body of a buffered one, whatever its content type says.</summary>
    /// <exception cref="EsbException">
    /// <c>ESB-XSL-FAILED</c>, <c>ESB-XSL-TERMINATED</c>, <c>ESB-XSL-DEPTH</c> or <c>ESB-XSL-OUTPUT</c>: the map could not make anything of it (422);
    /// <c>ESB-XML-…</c>: it cannot be read as XML at all (400).
    /// </exception>
    MessageBody Transform(MessageBody input);
}
