using Esb.Configuration.Compiling;
using Esb.Content.Wsdl;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>The WSDLs of a configuration, by endpoint; one that could not be compiled is missing, and was reported. Immutable.</summary>
internal sealed class WsdlModels(IReadOnlyDictionary<string, WsdlModel> all) : IFileContents
{
    /// <inheritdoc/>
    public string ContentHash => Fingerprint.Of(all.Select(wsdl => $"{wsdl.Key} {wsdl.Value.ContentHash}").Order(StringComparer.Ordinal));

    /// <inheritdoc/>
    public IEnumerable<string> Paths => all.Values.SelectMany(wsdl => wsdl.Paths);

    public WsdlModel? Find(string endpoint) => all.GetValueOrDefault(endpoint);
}

/// <summary>Compiles the WSDLs that endpoints name.</summary>
internal sealed class WsdlModelsCompiler(IReadOnlyDictionary<string, EndpointConfig> endpoints, XmlInput xml, ConfigErrors errors)
    : ICompiler<WsdlModels>
{
    public WsdlModels Compile()
    {
        var compiled = new Dictionary<string, WsdlModel>();
        foreach (
            var endpoint in endpoints
                .Values.OfType<SoapInboundConfig>()
                .Where(endpoint => endpoint.Wsdl is not null && endpoint.IsSound("wsdl"))
        )
        {
            if (WsdlCompiler.Compile(endpoint.Wsdl!, endpoint, "wsdl", xml, errors) is { } wsdl)
                compiled[endpoint.Name] = wsdl;
        }

        return new WsdlModels(compiled);
    }
}
