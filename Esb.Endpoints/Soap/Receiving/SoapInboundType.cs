using Esb.Content.Wsdl;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Endpoints.Http.Listening;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>The type <c>soap-inbound</c>.</summary>
internal sealed class SoapInboundType(WsdlModels wsdls) : InboundEndpointType<SoapInboundConfig>
{
    protected override CreateInbound? Compile(SoapInboundConfig settings, ConfigErrors errors)
    {
        var wsdl = wsdls.Find(settings.Name);
        Check(settings, errors);
        if (wsdl is null)
            return null;
        CheckOperations(settings, wsdl, errors);
        return (services, intake) => services.GetRequiredService<SoapInboundFactory>().Create(settings, wsdl, intake);
    }

    private static void Check(SoapInboundConfig settings, ConfigErrors errors)
    {
        if (RoutePath.WhatIsWrong(settings.RequestPath) is { } wrong)
            errors.Add("ESB-CFG-VALUE", settings, "path", wrong);
        if (settings.SingleInstance)
            errors.Add("ESB-CFG-VALUE", settings, "singleInstance", "expected false: callers of the other hosts would find no endpoint");
        if (settings.Relay is not null)
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "relay",
                "envelopes are relayed by http-inbound: expected process, publish or operations"
            );
        if (settings.Wsdl is null && settings.IsSound("wsdl"))
            errors.Add(
                "ESB-CFG-UNAVAILABLE",
                settings,
                "wsdl",
                "a WSDL made from schemas is designed, but this version cannot do it yet: expected a file"
            );
        if (settings.Understands.Any(string.IsNullOrWhiteSpace))
            errors.Add("ESB-CFG-VALUE", settings, "understands", "expected local names of headers");
    }

    private static void CheckOperations(SoapInboundConfig settings, WsdlModel wsdl, ConfigErrors errors)
    {
        foreach (var name in settings.Operations.Keys.Where(name => wsdl.Operations.All(operation => operation.Name != name)))
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "operations",
                $"the WSDL has no operation '{name}'; it has "
                    + $"{string.Join(", ", wsdl.Operations.Select(operation => operation.Name).Take(20))}"
            );
        if (settings.Mode == ExchangePattern.RequestReply || !settings.IsSound("mode"))
            return;
        var answering = wsdl
            .Operations.Where(operation =>
                operation.Output is not null && (settings.Operations.Count == 0 || settings.Operations.ContainsKey(operation.Name))
            )
            .ToList();
        if (answering.Count > 0)
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "mode",
                $"by the WSDL the operation '{answering[0].Name}' has an answer: expected \"request-reply\"; operations without an "
                    + $"answer are one-way all the same"
            );
    }
}
