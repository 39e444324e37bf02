package devdocs

import "strings"

// menu is what stands beside each page.
type menu struct {
	Guides []link
	Basics []link // what all operations share
	Groups []submenu
	Events submenu
}

// submenu is a subject with the pages that belong to it.
type submenu struct {
	link
	Open  bool // one of its pages is the current one
	Links []link
}

// link is a page by its name.
type link struct {
	Path, Word string
	Method     string // of an operation
	Current    bool
}

func (s *site) newMenu() (m menu) {
	for _, g := range s.guides {
		m.Guides = append(m.Guides, link{Path: g.Path(), Word: g.Title})
	}
	for _, g := range s.groups {
		if len(g.Operations) == 0 {
			m.Basics = append(m.Basics, link{Path: g.Path, Word: g.Name})
			continue
		}
		sub := submenu{link: link{Path: g.Path, Word: g.Name}}
		for _, o := range g.Operations {
			sub.Links = append(sub.Links, link{Path: operationPath(o), Word: o.Summary, Method: o.Method})
		}
		m.Groups = append(m.Groups, sub)
	}
	m.Events = submenu{link: link{Path: eventsPath, Word: "Event kinds"}}
	for _, e := range s.document.Events {
		m.Events.Links = append(m.Events.Links, link{Path: eventPath(e.Path), Word: e.Path})
	}
	return m
}

// at returns the menu with the page of a path marked.
func (m menu) at(path string) menu {
	marked := func(links []link) (list []link, here bool) {
		for _, l := range links {
			l.Current = l.Path == path
			here = here || l.Current
			list = append(list, l)
		}
		return list, here
	}
	var out menu
	out.Guides, _ = marked(m.Guides)
	out.Basics, _ = marked(m.Basics)
	for _, g := range m.Groups {
		g.Links, g.Open = marked(g.Links)
		g.Current = g.Path == path
		g.Open = g.Open || g.Current
		out.Groups = append(out.Groups, g)
	}
	out.Events = m.Events
	out.Events.Links, _ = marked(m.Events.Links)
	out.Events.Current = m.Events.Path == path
	out.Events.Open = strings.HasPrefix(path, eventsPath)
	return out
}

// near are the pages before and after a page.
type near struct{ Before, After *link }

func nearTo(list []link, i int) (n near) {
	if i > 0 {
		n.Before = &list[i-1]
	}
	if i+1 < len(list) {
		n.After = &list[i+1]
	}
	return n
}
