using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Schemas;

/// <summary>The schemas of the section <c>schemas</c>, compiled. Thread-safe.</summary>
public interface ISchemaCatalog
{
    /// <summary>The schema with this name; null if there is no such schema or it could not be compiled, which the configuration check
    /// reports.</summary>
    IMessageSchema? Find(string name);
}

/// <summary>A compiled schema. Thread-safe; when its file changes, messages that are validated later are validated with the new
/// one.</summary>
public interface IMessageSchema
{
    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>Checks the body of a message, which must be buffered, whatever its content type says.</summary>
    /// <exception cref="EsbException">
    /// <c>ESB-XML-SCHEMA</c>, <c>ESB-XML-ROOT</c> or <c>ESB-JSON-SCHEMA</c>: the document breaks the schema (422);
    /// the other <c>ESB-XML-…</c> and <c>ESB-JSON-…</c>: it cannot be read as XML or JSON at all (400).
    /// </exception>
    void Validate(EsbMessage message);

    /// <summary>The types of values in documents of the schema: of an XML Schema those of its documents as JSON.</summary>
    ValueTypes Types { get; }
}
