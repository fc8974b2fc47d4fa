using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>Settings of an endpoint that can rewrite headers. They are validated with all others at start.</summary>
public interface IRewritesHeaders
{
    /// <summary>Changes to the headers that an inbound endpoint receives, or an outbound endpoint sends.</summary>
    HeaderRewriteConfig RewriteHeaders { get; }

    /// <summary>Changes to the headers of answers, in the opposite direction.</summary>
    HeaderRewriteConfig RewriteAnswerHeaders { get; }
}
