using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Content.Expressions;
using Esb.Content.Masking;
using Esb.Content.Xml;
using Esb.Core.Audit;
using Esb.Core.Configuration;

namespace Esb.Audit.Recording;

/// <summary>Compiles <c>audit.masks</c>, and refuses secrets of the section that are missing or can be guessed.</summary>
internal sealed class AuditMaskCompiler(AuditConfig config, ConfigErrors errors, NamespaceModel namespaces, XmlInput xml, TimeProvider time)
    : ICompiler<IMessageMask>
{
    private const int ShortestKey = 16;

    public IMessageMask Compile()
    {
        if (config.Anchors is not null && config.AnchorKey is null)
            errors.Add(
                "ESB-CFG-REQUIRED",
                config,
                "anchorKey",
                "expected a key, by reference, such as \"${file:/run/secrets/anchor-key}\", because anchors are written"
            );
        if (config.AnchorKey is { Length: < ShortestKey })
            errors.Add("ESB-CFG-RANGE", config, "anchorKey", $"expected at least {ShortestKey} characters");
        if (config.HashKey is { Length: < ShortestKey })
            errors.Add(
                MaskCompiler.Code,
                config,
                "hashKey",
                $"expected at least {ShortestKey} characters: with a short key hashes can be guessed"
            );
        return MaskCompiler.Compile(config.Masks, config.HashKey, namespaces, xml, time, errors);
    }
}
