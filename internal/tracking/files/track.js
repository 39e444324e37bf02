// Keeps the page as the order is, until the order is over.
(() => {
	const every = 10000;
	const state = () => document.getElementById("state");
	let tag = document.querySelector("main").dataset.tag;
	let timer;
	const show = next => {
		const news = next.querySelector("h1").textContent;
		if (state().querySelector("h1").textContent !== news) document.getElementById("news").textContent = news;
		state().replaceWith(next);
		document.title = next.dataset.title;
	};
	const look = async () => {
		clearTimeout(timer);
		if (!document.hidden) {
			try {
				const answer = await fetch(location.pathname + "/state", { headers: { "If-None-Match": tag }, cache: "no-store" });
				if (answer.status === 404 || answer.status === 410) return location.reload();
				if (answer.ok) {
					const page = new DOMParser().parseFromString(await answer.text(), "text/html");
					show(document.adoptNode(page.getElementById("state")));
					tag = answer.headers.get("ETag");
				}
			} catch { /* the next look may be luckier */ }
		}
		if (!("over" in state().dataset)) timer = setTimeout(look, every);
	};
	document.addEventListener("visibilitychange", () => { if (!document.hidden && !("over" in state().dataset)) look(); });
	timer = setTimeout(look, every);
})();
