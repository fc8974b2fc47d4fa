using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Endpoints.Soap.Receiving;
using Esb.Endpoints.Soap.Sending;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Soap;

/// <summary>Registers the SOAP endpoint types. They stand on the listeners and the targets of HTTP.</summary>
internal static class SoapRegistration
{
    public static IServiceCollection AddSoapEndpoints(this IServiceCollection services) =>
        services
            .AddCompiler<WsdlModels, WsdlModelsCompiler>()
            .AddScoped<SoapInboundFactory>()
            .AddEndpointType<SoapInboundType, SoapInboundConfig>("soap-inbound", "Serves the operations of a WSDL over SOAP 1.1 and 1.2.")
            .AddEndpointType<SoapOutboundType, SoapOutboundConfig>("soap-outbound", "Calls a service of SOAP.");
}
