using System.Xml;
using System.Xml.Linq;

namespace Esb.Content.Wsdl;

/// <summary>Reads the operations that a WSDL binds to SOAP over HTTP: document or RPC, literal.</summary>
/// <param name="files">The WSDL.</param>
/// <param name="schemas">Receives the wrappers of RPC.</param>
internal sealed class WsdlBindings(WsdlFiles files, WsdlSchemas schemas)
{
    private readonly Dictionary<(string Name, XmlQualifiedName Input), WsdlOperation> _operations = [];

    public bool HasSoap11 { get; private set; }

    public bool HasSoap12 { get; private set; }

    /// <summary>Reads all bindings.</summary>
    /// <exception cref="WsdlFault">A binding cannot be served.</exception>
    public IReadOnlyList<WsdlOperation> Read()
    {
        foreach (var (path, document) in files.Wsdls)
        {
            foreach (var binding in document.Root!.Elements(WsdlNames.Wsdl + "binding"))
            {
                foreach (var soap in new[] { WsdlNames.Soap11, WsdlNames.Soap12 })
                {
                    if (binding.Element(soap + "binding") is { } bound && (string?)bound.Attribute("transport") is null or WsdlNames.Http)
                        ReadBinding(path, binding, bound, soap);
                }
            }
        }

        return [.. _operations.Values];
    }

    private void ReadBinding(string path, XElement binding, XElement bound, XNamespace soap)
    {
        if (soap == WsdlNames.Soap11)
            HasSoap11 = true;
        else
            HasSoap12 = true;
        var (portPath, portType) = Find(path, binding, "portType", NameOf(path, binding, "type"));
        foreach (var operation in binding.Elements(WsdlNames.Wsdl + "operation"))
        {
            var name = (string?)operation.Attribute("name") ?? "";
            var described =
                portType.Elements(WsdlNames.Wsdl + "operation").FirstOrDefault(one => (string?)one.Attribute("name") == name)
                ?? throw WsdlFiles.Fault(path, operation, $"the port type has no operation '{name}'");
            var style =
                (string?)operation.Element(soap + "operation")?.Attribute("style") ?? (string?)bound.Attribute("style") ?? "document";
            var input =
                described.Element(WsdlNames.Wsdl + "input")
                ?? throw WsdlFiles.Fault(portPath, described, $"the operation '{name}' has no input; expected one that a caller begins");
            var output = described.Element(WsdlNames.Wsdl + "output");
            var request = ChildOf(path, operation, "input", portPath, input, style, soap, name);
            var answer = output is null ? null : ChildOf(path, operation, "output", portPath, output, style, soap, $"{name}Response");
            Add(
                new WsdlOperation(
                    name,
                    request,
                    answer,
                    (string?)operation.Element(soap + "operation")?.Attribute("soapAction") is { Length: > 0 } action ? [action] : [],
                    [AddressingActionOf(input, portType, name, output is null ? "" : "Request")],
                    output is null ? "" : AddressingActionOf(output, portType, name, "Response")
                )
            );
        }
    }

    // Bindings of both versions offer the same operation.
    private void Add(WsdlOperation operation)
    {
        var key = (operation.Name, operation.Input);
        _operations[key] = _operations.TryGetValue(key, out var known)
            ? known with
            {
                Actions = [.. known.Actions.Union(operation.Actions)],
                AddressingActions = [.. known.AddressingActions.Union(operation.AddressingActions)],
            }
            : operation;
    }

    private XmlQualifiedName ChildOf(
        string path,
        XElement operation,
        string direction,
        string portPath,
        XElement described,
        string style,
        XNamespace soap,
        string wrapper
    )
    {
        var body = operation.Element(WsdlNames.Wsdl + direction)?.Descendants(soap + "body").FirstOrDefault();
        if (
            operation
                .Element(WsdlNames.Wsdl + direction)
                ?.Descendants()
                .FirstOrDefault(element => element.Name.LocalName == "multipartRelated") is
            { } multipart
        )
            throw WsdlFiles.Fault(path, multipart, "attachments (MIME and MTOM) are designed, but this version cannot do them yet");
        if ((string?)body?.Attribute("use") is { } use && use != "literal")
            throw WsdlFiles.Fault(path, body!, $"the use \"{use}\" is not supported; expected \"literal\" (WS-I Basic Profile 1.1, R2706)");

        var (messagePath, message) = Find(portPath, described, "message", NameOf(portPath, described, "message"));
        var names = ((string?)body?.Attribute("parts"))?.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        var parts = message
            .Elements(WsdlNames.Wsdl + "part")
            .Where(part => names is null || names.Contains((string?)part.Attribute("name")))
            .ToList();
        if (style == "rpc")
            return WrapperOf(messagePath, parts, new XmlQualifiedName(wrapper, (string?)body?.Attribute("namespace") ?? ""));
        if (parts is not [{ } only] || only.Attribute("element") is null)
            throw WsdlFiles.Fault(
                messagePath,
                message,
                "a message of style \"document\" has one part with an element (WS-I Basic Profile 1.1, R2201); a Body without a "
                    + "child, or with several, is not served"
            );
        return NameOf(messagePath, only, "element");
    }

    private XmlQualifiedName WrapperOf(string path, List<XElement> parts, XmlQualifiedName name)
    {
        foreach (var part in parts.Where(part => part.Attribute("type") is null))
            throw WsdlFiles.Fault(path, part, "a part of style \"rpc\" has a type (WS-I Basic Profile 1.1, R2203)");
        schemas.AddWrapper(name, parts.Select(part => ((string?)part.Attribute("name") ?? "", NameOf(path, part, "type"))));
        return name;
    }

    private (string Path, XElement Element) Find(string path, XElement from, string kind, XmlQualifiedName name)
    {
        foreach (var (file, document) in files.Wsdls)
        {
            if (((string?)document.Root!.Attribute("targetNamespace") ?? "") != name.Namespace)
                continue;
            if (
                document.Root.Elements(WsdlNames.Wsdl + kind).FirstOrDefault(element => (string?)element.Attribute("name") == name.Name) is
                { } found
            )
                return (file, found);
        }

        throw WsdlFiles.Fault(path, from, $"there is no {kind} '{name.Name}' in the namespace '{name.Namespace}'");
    }

    private static XmlQualifiedName NameOf(string path, XElement element, string attribute)
    {
        if ((string?)element.Attribute(attribute) is not { } text)
            throw WsdlFiles.Fault(path, element, $"the attribute {attribute} is missing");
        var parts = text.Split(':');
        var uri = parts.Length == 1 ? element.GetDefaultNamespace() : element.GetNamespaceOfPrefix(parts[0]);
        return uri is null
            ? throw WsdlFiles.Fault(path, element, $"the prefix of '{text}' is not declared")
            : new XmlQualifiedName(parts[^1], uri.NamespaceName);
    }

    // Web Services Addressing 1.0, Metadata, section 4.4.4: the pattern of actions that are not written.
    private static string AddressingActionOf(XElement message, XElement portType, string operation, string suffix)
    {
        foreach (var uri in new[] { WsdlNames.AddressingMetadata, WsdlNames.Addressing })
        {
            if ((string?)message.Attribute(uri + "Action") is { } written)
                return written;
        }

        var target = (string?)portType.Parent!.Attribute("targetNamespace") ?? "";
        var separator = target.StartsWith("urn:", StringComparison.Ordinal) ? ":" : "/";
        var name = (string?)message.Attribute("name") ?? operation + suffix;
        return $"{target.TrimEnd('/')}{separator}{(string?)portType.Attribute("name")}{separator}{name}";
    }
}
