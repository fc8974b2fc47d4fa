using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>Settings of an endpoint that can change headers on their way. They are checked with all others at the start.</summary>
public interface IRewritesHeaders
{
    /// <summary>Changes to what an inbound endpoint takes in, or an outbound one sends.</summary>
    HeaderRewriteConfig RewriteHeaders { get; }

    /// <summary>Changes to the answers, which go the other way.</summary>
    HeaderRewriteConfig RewriteAnswerHeaders { get; }
}
