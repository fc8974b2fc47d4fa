using System.Security.Cryptography;
using System.Xml;
using System.Xml.Linq;
using Esb.Configuration.Compiling;
using Esb.Content.Schemas;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Content.Wsdl;

/// <summary>Compiles WSDL 1.1 with what it imports and includes. Nothing is fetched.</summary>
public static class WsdlCompiler
{
    private const string Code = "ESB-WSDL-COMPILE";

    /// <summary>Compiles a WSDL; null after an error was reported.</summary>
    /// <param name="file">The path.</param>
    /// <param name="settings">The settings that name it.</param>
    /// <param name="property">The property with the path, by its configured name.</param>
    /// <param name="xml">Reads what is validated.</param>
    /// <param name="errors">Receives the errors.</param>
    public static WsdlModel? Compile(string file, SettingsRecord settings, string property, XmlInput xml, ConfigErrors errors)
    {
        var folder = settings.Origin.Folder ?? Directory.GetCurrentDirectory();
        if (!File.Exists(file))
        {
            errors.Add("ESB-CFG-NOTFOUND", settings, property, $"there is no such file in {folder}");
            return null;
        }

        var isBroken = false;
        try
        {
            var files = new WsdlFiles(Path.GetFullPath(file));
            var schemas = new WsdlSchemas(Path.GetDirectoryName(Path.GetFullPath(file))!);
            foreach (var (path, document) in files.Wsdls)
            {
                foreach (var schema in document.Root!.Elements(WsdlNames.Wsdl + "types").Elements(WsdlNames.Xsd + "schema"))
                    schemas.Add(path, schema);
            }

            var bindings = new WsdlBindings(files, schemas);
            var operations = bindings.Read();
            if (operations.Count == 0)
                throw new WsdlFault(file, 0, 0, "binds no operation to SOAP over HTTP");
            var set = schemas.Compile();
            foreach (var fault in schemas.Faults)
                Report(fault);
            foreach (
                var operation in operations
                    .SelectMany(one => new[] { one.Input, one.Output }.OfType<XmlQualifiedName>())
                    .Distinct()
                    .Where(name => schemas.Faults.Count == 0 && !set.GlobalElements.Contains(name))
            )
                Report(new WsdlFault(file, 0, 0, $"no schema declares the element {{{operation.Namespace}}}{operation.Name}"));
            foreach (var twins in operations.GroupBy(operation => operation.Input).Where(group => group.Count() > 1))
                Report(
                    new WsdlFault(
                        file,
                        0,
                        0,
                        $"the operations {string.Join(" and ", twins.Select(one => $"'{one.Name}'"))} take the same child of Body, "
                            + $"so a request would not say which it is for"
                    )
                );
            return isBroken
                ? null
                : new WsdlModel(
                    operations,
                    bindings.HasSoap11,
                    bindings.HasSoap12,
                    WsdlPageWriter.Write(files),
                    new XsdSchema(Path.GetFileName(file), set, xml),
                    HashOf(files),
                    [.. files.Wsdls.Concat(files.Schemas).Select(one => Path.GetFullPath(one.Path))]
                );
        }
        catch (WsdlFault fault)
        {
            Report(fault);
            return null;
        }

        void Report(WsdlFault fault)
        {
            isBroken = true;
            var shown = Path.GetRelativePath(folder, fault.File.Length == 0 ? file : fault.File);
            errors.Add(
                Code,
                settings,
                property,
                fault.Line > 0 ? $"{shown}, line {fault.Line}, column {fault.Column}: {fault.Message}" : $"{shown}: {fault.Message}"
            );
        }
    }

    private static string HashOf(WsdlFiles files) =>
        Fingerprint.Of(
            files
                .Wsdls.Concat(files.Schemas)
                .Select(file => $"{Path.GetFileName(file.Path)} {Convert.ToHexStringLower(SHA256.HashData(File.ReadAllBytes(file.Path)))}")
                .Order(StringComparer.Ordinal)
        );
}
