using System.Text;
using Esb.Configuration;
using Esb.Content.Expressions;
using Esb.Content.Masking;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Masking;

/// <summary>Builds masks for tests.</summary>
internal static class SomeMasks
{
    public const string HashKey = "a key of sixteen or more characters";

    /// <summary>A mask of these rules; the prefix p stands for urn:payment.</summary>
    public static IMessageMask Of(params MaskConfig[] rules)
    {
        var errors = new ConfigErrors();
        using var content = SomeContent.Configure("""{ "namespaces": { "p": "urn:payment" } }""");
        var mask = MaskCompiler.Compile(rules, HashKey, content.Get<NamespaceModel>(), SomeContent.Xml, TimeProvider.System, errors);
        Assert.That(errors.All, Is.Empty);
        return mask;
    }

    public static IMessageMask Xpath(string xpath, MaskAction action = MaskAction.Last4) =>
        Of(new MaskConfig { Xpath = xpath, Action = action });

    public static IMessageMask Jsonpath(string jsonpath, MaskAction action = MaskAction.Last4) =>
        Of(new MaskConfig { Jsonpath = jsonpath, Action = action });

    public static MaskedMessage Apply(this IMessageMask mask, string body, string? contentType = null) =>
        mask.Apply(Some.Message(body, contentType: contentType));

    public static MaskedMessage Apply(this IMessageMask mask, byte[] body, string? contentType = null) =>
        mask.Apply(Some.Message(contentType: contentType) with { Body = MessageBody.FromBytes(body) });

    public static string Text(this MaskedMessage masked) => Encoding.UTF8.GetString(masked.Message.Body.Bytes.Span);
}
